"""The page of one callback: every try, what is sent, and sending it again."""

import html
import json
import re

import pytest

from printworks.rules.events import CallbackState
from printworks.store.engine.database import Database
from tests.api.images import create
from tests.dashboard.telling import did, last_callback, listen, skip, try_once
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window

HOSTILE = "<script>alert('x')</script>"


def page_of(callback_id: int) -> str:
    """Return where a callback is shown."""
    return f"/integrations/callbacks/{callback_id}"


@pytest.mark.both_databases
def test_it_shows_every_try_and_what_is_sent(alice: Window, database: Database) -> None:
    listen(database, alice)
    create(alice.api, merchantOrderId=HOSTILE)
    callback = last_callback(database, alice)
    answer = f"{HOSTILE} is not what I wanted" + "!" * 300
    try_once(database, callback, 500, CallbackState.PENDING, answer=answer)
    try_once(database, callback, None, CallbackState.PENDING, error="It took too long.")

    page = alice.open(f"/integrations/callbacks/{callback}")

    words, body = words_of(page), page.body.decode()
    assert "Order created Failing" in words
    assert re.search(r"2 \S+ \S+ \d+, 12:00:00 No answer It took too long\.", words)
    assert re.search(r"1 \S+ \S+ \d+, 12:00:00 500 Internal Server Error", words)
    assert f"webhook-id: msg_{callback}" in words
    sent = re.search(r'"Body as sent">(.*?)</pre>', body, re.DOTALL)
    assert sent is not None
    feed = alice.api.get("/events").data["events"][0]["callback"]
    assert json.loads(html.unescape(sent[1])) == feed
    assert HOSTILE not in body
    assert "whsec_" not in body
    assert len(page.body) < 100_000

    [again] = re.findall(r'hx-get="([^"]*seen=[^"]*)"', body)
    assert alice.open(html.unescape(again), HX_Request="true").status == 204
    sent_on = alice.do(page_of(callback), "send-this-callback-again")
    assert "The callback is being resent." in alice.follow(sent_on)
    assert alice.open(html.unescape(again), HX_Request="true").status == 200
    assert did(database) == [("send-callback-again", f"callback {callback}")]


def test_one_that_was_never_sent_says_why(alice: Window, database: Database) -> None:
    create(alice.api)
    callback = last_callback(database, alice)

    words = alice.words(page_of(callback))
    assert "There was no callback address when this happened." in words
    token = alice.token("/integrations")
    fields = {"form_token": token, "do": "send-this-callback-again"}
    refused = alice.send(page_of(callback), fields)
    assert refused.status == 400
    assert "There is no callback address; set one first." in words_of(refused)


@pytest.mark.both_databases
def test_one_that_told_nothing_new_says_so(alice: Window, database: Database) -> None:
    listen(database, alice)
    create(alice.api)
    callback = last_callback(database, alice)
    skip(database, callback)

    words = alice.words(page_of(callback))

    assert "Nothing had changed since the previous callback." in words
    assert "There was no callback address" not in words


@pytest.mark.both_databases
def test_the_list_of_orders_says_that_callbacks_keep_failing(
    alice: Window, database: Database
) -> None:
    listen(database, alice)
    create(alice.api)
    callback = last_callback(database, alice)
    assert "does not get our callbacks" not in alice.words("/orders")
    try_once(database, callback, 500, CallbackState.PENDING)
    # Once is nothing: a receiver may just be started again.
    assert "does not get our callbacks" not in alice.words("/orders")
    try_once(database, callback, None, CallbackState.PENDING, error="It took too long.")

    page = alice.open("/orders")

    said = words_of(page)
    assert "Your shop does not get our callbacks" in said
    assert "1 of the latest has failed repeatedly" in said
    assert "It took too long." in said
    assert f'href="{page_of(callback)}"' in page.body.decode()

    try_once(database, callback, 200, CallbackState.DELIVERED)
    assert "does not get our callbacks" not in alice.words("/orders")
