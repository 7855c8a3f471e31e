"""A form is done once, however often it is sent, and nothing that was typed gets lost by it."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select, update

from printworks.dashboard.shared.order_actions import OrderAction
from printworks.rules.people import Realm
from printworks.store.engine.database import Database
from printworks.store.tables import api_keys, sent_forms
from tests.api.conftest import MovableClock
from tests.dashboard.ordering import FORM, NEW, an_order, count_orders
from tests.dashboard.test_every_form import realm, window, world
from tests.dashboard.test_keys import key_of
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, find_token
from tests.dashboard.worlds import PAGES, World
from tests.running import Answer

pytestmark = pytest.mark.slow

__all__ = ["realm", "window", "world"]

ORDER = {**FORM, "sample": "yes"}
KEY = {"name": "Shop", "access": "full", "lab": "", "ends": "", "current_password": PASSWORD}


def fill_in(window: Window, address: str, form_action: str, **fields: Any) -> dict[str, Any]:
    """Open a page and return what its form sends, with the token of that very form."""
    page = window.open(address)
    for form in re.findall(r"<form.*?</form>", page.body.decode(), re.DOTALL):
        if f'value="{form_action}"' in form:
            [once] = re.findall(r'name="once" value="([^"]+)"', form)
            token = find_token(page)
            return {"form_token": token, "once": once, "do": form_action, **fields}
    raise AssertionError(words_of(page))


def count_keys(database: Database) -> int:
    with database.reading() as db:
        return len(db.execute(select(api_keys.c.id)).all())


def send_at_once(window: Window, address: str, form: dict[str, Any]) -> list[Answer]:
    """Send the same form three times without waiting for an answer."""
    with ThreadPoolExecutor(3) as threads:
        return list(threads.map(lambda _: window.send(address, form), range(3)))


@pytest.mark.both_databases
def test_an_order_form_that_is_sent_again_makes_no_second_order(alice: Window) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)

    answers = [alice.send(NEW, form), alice.send(NEW, form), *send_at_once(alice, NEW, form)]

    assert {answer.status for answer in answers} == {303}
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert count_orders(alice) == 1


@pytest.mark.both_databases
def test_two_clicks_at_the_same_time_show_the_same_new_key(
    alice: Window, database: Database
) -> None:
    before = count_keys(database)
    form = fill_in(alice, "/keys", "add-key", **KEY)

    answers = send_at_once(alice, "/keys", form)

    assert len({key_of(answer) for answer in answers}) == 1
    assert count_keys(database) == before + 1
    with database.reading() as db:
        [stored] = db.execute(select(sent_forms.c.answer)).scalars().all()
    assert key_of(answers[0]) not in stored


def test_what_was_shown_once_is_not_shown_much_later(
    alice: Window, database: Database, clock: MovableClock
) -> None:
    form = fill_in(alice, "/keys", "add-key", **KEY)
    key = key_of(alice.send("/keys", form))
    count = count_keys(database)
    clock.advance(minutes=11)

    again = alice.send("/keys", form)

    assert again.status == 400
    assert key not in again.body.decode()
    assert "it was done. What it showed then is not shown again" in words_of(again)
    assert count_keys(database) == count


@pytest.mark.both_databases
def test_a_form_that_was_refused_is_corrected_and_sent_with_the_same_token(alice: Window) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)

    refused = alice.send(NEW, {**form, "copies": "none"})
    done = alice.send(NEW, form)

    assert refused.status == 400
    assert done.status == 303
    assert count_orders(alice) == 1


@pytest.mark.both_databases
def test_whoever_goes_back_and_changes_the_form_is_told_and_loses_nothing(alice: Window) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    first = alice.send(NEW, form)

    changed = {**form, "reference": "Another one"}
    told = alice.send(NEW, changed)

    assert told.status == 400
    body = told.body.decode()
    assert "with something else in it, and that was done" in words_of(told)
    assert first.headers["location"].replace("&", "&amp;") in body
    assert 'value="Another one"' in body
    assert count_orders(alice) == 1
    [once] = set(
        re.findall(
            r'name="once" value="([^"]+)"', body[body.index('value="create-order"') - 300 :]
        )[:1]
    )
    assert once != form["once"]
    assert alice.send(NEW, {**changed, "once": once}).status == 303
    assert count_orders(alice) == 2


def test_a_form_of_an_old_page_without_a_token_is_done_as_often_as_it_comes(alice: Window) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    del form["once"]

    for made_up in ({}, {"once": "1.abc.def"}, {"once": "é"}, {"once": "9" * 200}):
        assert alice.send(NEW, {**form, **made_up}).status == 303

    assert count_orders(alice) == 4


def test_the_token_of_another_person_leads_nobody_to_their_order(
    alice: Window, bob: Window
) -> None:
    alices = fill_in(alice, NEW, "create-order", **ORDER)
    location = alice.send(NEW, alices).headers["location"]
    bobs = fill_in(bob, NEW, "create-order", **ORDER)

    made = bob.send(NEW, {**bobs, "once": alices["once"]})

    assert made.status == 303
    assert made.headers["location"] != location
    assert count_orders(bob) == 1


@pytest.mark.both_databases
def test_a_form_whose_process_died_is_not_done_again_behind_anybodys_back(
    alice: Window, database: Database, clock: MovableClock
) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    alice.send(NEW, form)
    with database.writing() as db:
        db.execute(update(sent_forms).values(location=None, finished_at=None))
    clock.advance(minutes=3)

    told = alice.send(NEW, form)

    assert told.status == 400
    assert "Look whether it was done" in words_of(told)
    assert count_orders(alice) == 1


def test_a_form_whose_process_died_after_its_change_leads_to_what_it_made(
    alice: Window, database: Database, clock: MovableClock
) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    first = alice.send(NEW, form)
    with database.writing() as db:
        db.execute(update(sent_forms).values(finished_at=None))
    clock.advance(minutes=3)

    assert alice.send(NEW, form).headers["location"] == first.headers["location"]


@pytest.mark.both_databases
def test_a_button_that_is_pressed_twice_leads_to_the_same_page(alice: Window) -> None:
    _, address = an_order(alice)
    form = fill_in(alice, address, OrderAction.HOLD)

    answers = send_at_once(alice, address, form)

    assert {answer.status for answer in answers} == {303}
    assert len({answer.headers["location"] for answer in answers}) == 1


def test_every_form_of_every_page_is_done_once(realm: Realm, window: Window, world: World) -> None:
    for page in PAGES[realm]:
        body = window.open(world.address_of(page)).body.decode("utf-8", "replace")
        forms = re.findall(r'<form method="post".*?</form>', body, re.DOTALL)
        tokens = [
            found
            for form in forms
            if "sign-out" not in form
            for found in re.findall(r'name="once" value="([^"]+)"', form) or [None]
        ]
        assert None not in tokens, page.path
        assert len(set(tokens)) == len(tokens), page.path
