"""`printworks callback` and `printworks merchant callback`: what merchants are told, and where."""

import base64
import json
from datetime import timedelta
from typing import Any

import pytest

from printworks.actions.callbacks import settle_challenge
from printworks.clock import system_clock
from printworks.rules.events import CallbackState
from printworks.store.callbacks.callbacks import Attempt
from printworks.store.callbacks.deliveries import DeliveryOutcome, load_deliveries, write_outcomes
from printworks.store.callbacks.settings import read_callback_settings
from tests.cli.operators import NO_NUMBER, Operator
from tests.commands import Ended
from tests.factories import a_work

RECEIVER = "https://shop.example/callbacks?shop=1"


def callback(keeper: Operator, *words: str) -> Any:
    """Run `printworks callback ...` and read what it prints."""
    return keeper.reads("callback", *words)


def about_merchant(keeper: Operator, verb: str, *words: str) -> Ended:
    """Run `printworks merchant callback ...` for the only merchant."""
    return keeper.asks("merchant", "callback", verb, keeper.merchant.code, *words)


def listens(keeper: Operator, *words: str) -> None:
    """Set the merchant's callback address."""
    ended = about_merchant(keeper, "set", RECEIVER, *words)
    assert ended.code == 0, ended.complained


def fails(keeper: Operator, callback_id: int) -> None:
    """Let a callback have failed for good."""
    with keeper.database.writing() as db:
        delivery = load_deliveries(db, [callback_id])[callback_id]
        attempt = Attempt(
            number=delivery.attempts + 1,
            at=system_clock(),
            url=RECEIVER,
            status=503,
            milliseconds=12,
            answer="We are [closed].\nCome again.",
            error=None,
        )
        tried = DeliveryOutcome(delivery=delivery, state=CallbackState.FAILED, attempt=attempt)
        write_outcomes(db, [tried], now=system_clock())


def newest(keeper: Operator) -> Any:
    """Return the newest callback."""
    return callback(keeper, "list", keeper.merchant.code)[0]


class TestWhereTo:
    @pytest.mark.both_databases
    def test_an_address_is_set_shown_and_cleared(self, keeper: Operator) -> None:
        listens(keeper, "--format", "2.6")
        shown = about_merchant(keeper, "show")
        cleared = about_merchant(keeper, "clear")

        assert shown.said == f"address  {RECEIVER}\nformat   2.6\n"
        assert cleared.said == f"{keeper.merchant.code} gets no callbacks any more.\n"
        assert json.loads(about_merchant(keeper, "show", "--json").said) == {
            "url": None,
            "format": None,
            "candidate": None,
            "isTrusted": False,
        }

    def test_what_is_no_address_is_one_sentence(self, keeper: Operator) -> None:
        ended = about_merchant(keeper, "set", "shop.example")

        assert ended.code == 1
        assert ended.complained == ("printworks: An address must begin with http:// or https://.\n")

    @pytest.mark.parametrize(
        ("url", "reason"),
        [
            (
                "https://user:word@shop.example/",
                "An address must hold no user name and no password.",
            ),
            ("https://shop.example:0/", "The port of an address must be a number from 1 to 65535."),
            ("https://10.1.2.3/", "The address is not public, so it cannot be reached from here."),
        ],
    )
    def test_an_address_that_can_never_work_is_refused(
        self, keeper: Operator, url: str, reason: str
    ) -> None:
        ended = about_merchant(keeper, "set", url)

        assert (ended.code, ended.complained) == (1, f"printworks: {reason}\n")

    def test_an_unknown_format_is_explained(self, keeper: Operator) -> None:
        ended = about_merchant(keeper, "set", RECEIVER, "--format", "1.0")

        assert ended.code == 2
        assert "'1.0' is not one of" in ended.complained

    def test_a_secret_comes_with_the_address_and_stays_with_another(self, keeper: Operator) -> None:
        before = about_merchant(keeper, "secret")
        listens(keeper)
        first = about_merchant(keeper, "secret").said
        listens(keeper, "--format", "3.0")

        assert before.said == "There is no secret yet; set an address, or use --rotate.\n"
        assert len(base64.b64decode(first.strip().removeprefix("whsec_"))) >= 24
        assert about_merchant(keeper, "secret").said == first

    @pytest.mark.both_databases
    def test_a_new_secret_leaves_the_last_one_valid_for_a_while(self, keeper: Operator) -> None:
        listens(keeper)
        [old] = json.loads(about_merchant(keeper, "secret", "--json").said)

        rotated = json.loads(about_merchant(keeper, "secret", "--rotate", "--json").said)
        shown = about_merchant(keeper, "secret").said.splitlines()

        new, last = rotated
        assert new["until"] is None
        assert last["secret"] == old["secret"] != new["secret"]
        assert last["until"] is not None
        assert shown[0] == new["secret"]
        assert shown[1].startswith(f"{last['secret']}  until ")

    @pytest.mark.both_databases
    def test_a_test_is_sent_and_can_be_looked_at(self, keeper: Operator) -> None:
        listens(keeper)

        said = about_merchant(keeper, "test").said
        [sent] = callback(keeper, "list", keeper.merchant.code, "--tests")

        assert said.startswith(f"Callback {sent['id']} is on its way;")
        assert (sent["event"], sent["order"], sent["state"]) == (None, None, "pending")
        assert callback(keeper, "show", str(sent["id"]))["merchant"] == keeper.merchant.code

    def test_without_an_address_no_test_can_be_sent(self, keeper: Operator) -> None:
        ended = about_merchant(keeper, "test")

        assert ended.code == 1
        assert ended.complained == ("printworks: There is no callback address; set one first.\n")

    @pytest.mark.parametrize("verb", ["show", "set", "clear", "secret", "test"])
    def test_an_unknown_merchant_is_one_sentence(self, keeper: Operator, verb: str) -> None:
        words = [RECEIVER] if verb == "set" else []

        ended = keeper.asks("merchant", "callback", verb, "nobody", *words)

        assert ended.code == 1
        assert ended.complained == "printworks: There is no merchant 'nobody'.\n"


class TestLooking:
    @pytest.mark.both_databases
    def test_the_list_can_be_narrowed_down(self, keeper: Operator) -> None:
        listens(keeper)
        wanted, other = keeper.adds_an_order(), keeper.adds_an_order()
        code = keeper.merchant.code

        of_order = callback(keeper, "list", code, "--order", str(wanted.id))
        fails(keeper, of_order[0]["id"])
        failed = callback(keeper, "list", code, "--failed")
        one = callback(keeper, "list", code, "--limit", "1")

        assert {each["order"] for each in of_order} == {wanted.id}
        assert [each["id"] for each in failed] == [of_order[0]["id"]]
        assert [each["order"] for each in one] == [other.id]

    def test_an_empty_list_says_so(self, keeper: Operator) -> None:
        ended = keeper.asks("callback", "list", keeper.merchant.code, "--order", NO_NUMBER)

        assert ended.said == "There is no such callback.\n"

    @pytest.mark.both_databases
    def test_a_callback_shows_how_each_attempt_went(self, keeper: Operator) -> None:
        listens(keeper)
        order = keeper.adds_an_order()
        callback_id = newest(keeper)["id"]
        fails(keeper, callback_id)

        for_people = keeper.asks("callback", "show", str(callback_id)).said
        for_programs = callback(keeper, "show", str(callback_id))

        assert f"{RECEIVER}  status 503: We are [closed]. (12 ms)" in for_people
        assert for_programs["order"] == order.id
        assert for_programs["kind"] == "order-created"
        assert for_programs["state"] == "given-up"
        assert [attempt["status"] for attempt in for_programs["history"]] == [503]

    @pytest.mark.parametrize("number", ["42", "0", NO_NUMBER])
    @pytest.mark.parametrize("verb", ["show", "send-again"])
    def test_a_callback_that_is_not_there_is_one_sentence(
        self, keeper: Operator, verb: str, number: str
    ) -> None:
        ended = keeper.asks("callback", verb, number)

        assert ended.code == 1
        assert ended.complained == f"printworks: There is no callback {number}.\n"


@pytest.mark.both_databases
class TestAgain:
    def test_one_that_was_given_up_is_sent_again(self, keeper: Operator) -> None:
        listens(keeper)
        keeper.adds_an_order()
        callback_id = newest(keeper)["id"]
        fails(keeper, callback_id)

        ended = keeper.asks("callback", "send-again", str(callback_id))

        assert ended.said == f"Callback {callback_id} is on its way.\n"
        assert (newest(keeper)["state"], newest(keeper)["failures"]) == ("pending", 0)

    def test_everything_since_a_moment_is_sent_again(self, keeper: Operator) -> None:
        keeper.adds_an_order()
        listens(keeper)
        code = keeper.merchant.code
        yesterday, tomorrow = (
            f"{system_clock() + timedelta(days=days):%Y-%m-%dT%H:%M}" for days in (-1, 1)
        )

        later = keeper.asks("callback", "replay", code, "--since", tomorrow)
        earlier = keeper.asks("callback", "replay", code, "--since", yesterday)

        assert later.said == "0 callbacks are on their way.\n"
        assert earlier.said == "1 callback is on its way.\n"
        assert newest(keeper)["state"] == "pending"

    def test_everything_after_an_event_is_sent_again(self, keeper: Operator) -> None:
        for _ in range(2):
            keeper.adds_an_order()
        listens(keeper)

        sent = callback(keeper, "replay", keeper.merchant.code, "--after", "1")

        assert sent == {"ok": True, "sent": 1}

    @pytest.mark.parametrize("words", [[], ["--since", "2026-11-15", "--after", "1"]])
    def test_from_where_on_must_be_clear(self, keeper: Operator, words: list[str]) -> None:
        ended = keeper.asks("callback", "replay", keeper.merchant.code, *words)

        assert ended.code == 2
        assert "Give either --since or --after." in ended.complained

    def test_it_needs_an_address(self, keeper: Operator) -> None:
        keeper.adds_an_order()
        callback_id = newest(keeper)["id"]

        for words in (
            ["send-again", str(callback_id)],
            ["replay", keeper.merchant.code, "--after", "0"],
        ):
            ended = keeper.asks("callback", *words)
            assert ended.code == 1
            assert ended.complained == (
                "printworks: There is no callback address; set one first.\n"
            )
        with keeper.database.reading() as db:
            assert read_callback_settings(db, keeper.merchant.id).url is None


class TestChallenge:
    @pytest.mark.both_databases
    def test_an_operator_sees_it_retries_it_and_waives_it(self, keeper: Operator) -> None:
        code, url = keeper.merchant.code, "https://shop.example/new"
        callback = ("merchant", "callback")

        ended = keeper.asks(*callback, "set", code, url, callback_challenge="always")
        assert f"new address  {url}, being challenged" in ended.said
        shown = keeper.reads(*callback, "show", code)
        assert (shown["url"], shown["candidate"]["url"]) == (None, url)
        assert keeper.reads(*callback, "retry", code)["candidate"]["failures"] == 0

        trusted = keeper.reads(*callback, "trust", code)
        assert (trusted["url"], trusted["candidate"], trusted["isTrusted"]) == (url, None, True)
        assert "waived for this merchant" in keeper.asks(*callback, "show", code).said
        assert not keeper.reads(*callback, "trust", code, "--stop")["isTrusted"]
        nothing = keeper.asks(*callback, "retry", code)
        assert (nothing.code, "No callback address waits" in nothing.complained) == (1, True)

    def test_an_operator_may_set_one_without_it(self, keeper: Operator) -> None:
        code, url = keeper.merchant.code, "https://shop.example/new"
        words = ("merchant", "callback", "set", code, url, "--without-challenge")

        assert keeper.asks(*words, callback_challenge="always").code == 0

        assert keeper.reads("merchant", "callback", "show", code)["url"] == url

    def test_one_that_does_not_answer_says_why(self, keeper: Operator) -> None:
        code = keeper.merchant.code
        words = ("merchant", "callback", "set", code, "https://shop.example/new")
        keeper.asks(*words, callback_challenge="always")
        for _ in range(5):
            with keeper.database.writing() as db:
                candidate = read_callback_settings(db, keeper.merchant.id).candidate
                assert candidate is not None
                work = a_work(db, keeper.merchant)
                settle_challenge(work, candidate.since.isoformat(), "It answered 404.")

        said = keeper.asks("merchant", "callback", "show", code).said

        assert "not challenged any more (It answered 404.)" in said
