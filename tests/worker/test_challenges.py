"""New callback addresses: used when their owner has answered the challenge, and not before."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from standardwebhooks import Webhook

from printworks.actions.callbacks import (
    NOT_PROVED,
    retry_challenge,
    send_test,
    set_callback,
    settle_challenge,
    trust_addresses,
)
from printworks.actions.work import Work
from printworks.errors import BadInput, WrongState
from printworks.rules.callbacks import CHALLENGE_WAITS, AddressRules
from printworks.store.callbacks.settings import CallbackSettings, read_callback_settings
from printworks.store.engine.database import Database
from tests.factories import NOON, FixedServices, a_merchant, a_work
from tests.worker.hosts import Asked
from tests.worker.receivers import Receiver, says
from tests.worker.shops import Shop

URL = "https://shop.example/new"
STRICT = AddressRules(needs_https=True, needs_challenge=True)
CHALLENGED = AddressRules(needs_challenge=True)


def strictly(work: Work, rules: AddressRules = CHALLENGED) -> Work:
    """Return work in a deployment that asks more of an address."""
    backing = FixedServices(work.catalogue, environment=work.environment, address_rules=rules)
    return msgspec.structs.replace(work, backing=backing)


def set_address(shop: Shop, url: str) -> str:
    """Let the merchant give an address; return the secret."""
    with shop.database.writing() as db:
        work = strictly(a_work(db, shop.merchant, now=shop.clock.now))
        return set_callback(work, url).new_secret or ""


def settings_of(shop: Shop) -> CallbackSettings:
    """Return where callbacks go."""
    with shop.database.reading() as db:
        return read_callback_settings(db, shop.merchant.id)


def echoes(write: Any) -> Any:
    """Answer a challenge with what is written of it."""

    async def behave(asked: Asked, writer: Any) -> None:
        body = write(json.loads(asked.body))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    return behave


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of callbacks."""
    with Receiver() as receiver:
        yield receiver


RIGHT = {
    "the token": lambda told: told["challenge"].encode() + b"\n",
    "a JSON text": lambda told: json.dumps(told["challenge"]).encode(),
    "a JSON object": lambda told: json.dumps({"challenge": told["challenge"]}).encode(),
}


class TestChallenge:
    @pytest.mark.parametrize("how", RIGHT)
    def test_an_address_whose_owner_answers_is_used(
        self, shop: Shop, receiver: Receiver, how: str
    ) -> None:
        url = receiver.at("/new", echoes(RIGHT[how]), says(200))
        secret = set_address(shop, url)
        assert settings_of(shop).url is None
        shop.clock.now = NOON.now(tz=NOON.tzinfo)

        shop.drain()

        assert (settings_of(shop).url, settings_of(shop).candidate) == (url, None)
        [heard] = receiver.heard
        assert heard.told["event"] == "callback-challenge"
        assert heard.told["environment"] == "SANDBOX"
        assert Webhook(secret).verify(heard.body, heard.headers) == heard.told
        shop.add_order()
        shop.drain()
        assert len(receiver.heard) == 2

    @pytest.mark.parametrize(
        ("behaviour", "problem"),
        [
            (says(200, b"OK"), "not with the challenge"),
            (says(200), "not with the challenge"),
            (says(200, b"[" * 5000), "not with the challenge"),
            (says(404), "answered the challenge with 404"),
            # A server that sends back whatever it is sent.
            (echoes(lambda told: json.dumps(told).encode()), "not with the challenge"),
        ],
    )
    def test_one_whose_owner_does_not_is_not_used(
        self, shop: Shop, receiver: Receiver, behaviour: Any, problem: str
    ) -> None:
        old = receiver.at("/old", says(200))
        with shop.database.writing() as db:
            set_callback(a_work(db, shop.merchant), old)
        set_address(shop, receiver.at("/new", behaviour))

        shop.drain()

        known = settings_of(shop)
        assert known.url == old
        assert known.candidate is not None
        assert problem in (known.candidate.error or "")
        assert (known.candidate.failures, known.candidate.is_over) == (1, False)
        shop.add_order()
        shop.drain()
        assert [one.path for one in receiver.heard] == ["/new", "/old"]

    def test_it_is_tried_five_times_and_again_when_somebody_asks(
        self, shop: Shop, receiver: Receiver
    ) -> None:
        url = receiver.at("/new", *[says(500)] * 5, echoes(RIGHT["the token"]))
        set_address(shop, url)
        shop.drain()
        for wait in CHALLENGE_WAITS:
            shop.pass_time(seconds=wait.total_seconds())
        candidate = settings_of(shop).candidate
        assert candidate is not None
        assert (candidate.failures, candidate.is_over) == (5, True)
        shop.pass_time(hours=24)
        assert len(receiver.heard) == 5

        with shop.database.writing() as db:
            retry_challenge(strictly(a_work(db, shop.merchant, now=shop.clock.now)))
        shop.drain()

        assert (settings_of(shop).url, settings_of(shop).candidate) == (url, None)
        assert len({one.told["challenge"] for one in receiver.heard}) == 6

    def test_an_address_that_was_changed_meanwhile_is_not_challenged(
        self, shop: Shop, receiver: Receiver
    ) -> None:
        set_address(shop, receiver.at("/first", echoes(RIGHT["the token"])))
        shop.clock.now += timedelta(seconds=1)
        second = receiver.at("/second", echoes(RIGHT["the token"]))
        set_address(shop, second)

        shop.drain()

        assert settings_of(shop).url == second
        assert [one.path for one in receiver.heard] == ["/second"]

    def test_a_private_address_is_out_of_reach_of_a_challenge(self, shop: Shop) -> None:
        with shop.database.writing() as db, pytest.raises(BadInput, match="not public"):
            set_callback(strictly(a_work(db, shop.merchant)), "http://10.0.0.1/")


class TestRules:
    def test_a_live_address_must_be_https(self, database: Database) -> None:
        with database.writing() as db:
            work = strictly(a_work(db, a_merchant(db)), STRICT)
            with pytest.raises(BadInput, match="must begin with https://"):
                set_callback(work, "http://shop.example/")
            assert set_callback(work, "HTTPS://shop.example/").settings.candidate is not None

    def test_the_same_address_and_no_address_need_no_challenge(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            set_callback(a_work(db, merchant), URL)
            work = strictly(a_work(db, merchant))

            assert set_callback(work, URL).settings.candidate is None
            set_callback(work, "https://shop.example/another")
            cleared = set_callback(work, None).settings
            assert (cleared.url, cleared.candidate) == (None, None)

    def test_an_operator_may_set_one_without_it(self, database: Database) -> None:
        with database.writing() as db:
            work = strictly(a_work(db, a_merchant(db)))

            settings = set_callback(work, URL, without_challenge=True).settings

        assert (settings.url, settings.candidate) == (URL, None)

    def test_an_operator_may_vouch_for_a_merchant(self, database: Database) -> None:
        with database.writing() as db:
            work = strictly(a_work(db, a_merchant(db)))
            set_callback(work, URL)

            trusted = trust_addresses(work, is_trusted=True)
            assert (trusted.url, trusted.candidate, trusted.is_trusted) == (URL, None, True)
            assert set_callback(work, f"{URL}/2").settings.url == f"{URL}/2"
            assert not trust_addresses(work, is_trusted=False).is_trusted
            assert set_callback(work, f"{URL}/3").settings.url == f"{URL}/2"

    def test_nothing_is_sent_to_an_address_that_waits(self, database: Database) -> None:
        with database.writing() as db:
            work = strictly(a_work(db, a_merchant(db)))
            with pytest.raises(WrongState, match="No callback address waits"):
                retry_challenge(work)
            set_callback(work, URL)
            with pytest.raises(WrongState, match=NOT_PROVED):
                send_test(work)

    def test_a_late_answer_changes_nothing(self, database: Database) -> None:
        with database.writing() as db:
            work = strictly(a_work(db, a_merchant(db)))
            settle_challenge(work, NOON.isoformat(), None)
            waiting = set_callback(work, URL).settings

            settle_challenge(work, "another time", None)

            assert read_callback_settings(db, work.merchant.id) == waiting
