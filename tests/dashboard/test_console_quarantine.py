"""Quarantine, as the operator sees it: a banner everywhere, what may have happened, and its end."""

import pytest

from printworks.actions.quarantine import begin_quarantine
from printworks.rules.people import Role
from printworks.rules.quarantine import QuarantineCause
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from printworks.store.queue.quarantine import find_quarantine
from tests.api.client import Server
from tests.dashboard.windows import Window, open_console
from tests.factories import a_merchant, a_system_work, an_order

PAGE = "/console/quarantine"
BANNER = "The service is in quarantine"


def begin(database: Database, operator: Window, cause: QuarantineCause) -> int:
    """Let nothing out, and return an order that was open then."""
    with database.writing() as db:
        begin_quarantine(a_system_work(db), cause)
        return an_order(db, a_merchant(db, "Bob's <b>prints</b>")).id


@pytest.mark.both_databases
def test_it_begins_is_announced_and_ends(operator: Window, database: Database) -> None:
    assert BANNER not in operator.words("/console/health")

    operator.do(PAGE, "begin-quarantine")
    announced = operator.words("/console/orders")
    shown = operator.words(PAGE)
    operator.do(PAGE, "end-quarantine")

    assert BANNER in announced
    assert "An operator began it" in shown
    assert BANNER not in operator.words("/console/orders")
    assert "It begins by itself after a backup is restored." in operator.words(PAGE)
    with database.reading() as db:
        assert find_quarantine(db) is None
        done = {entry.action for entry in list_audit(db, limit=100)}
    assert done >= {"begin-quarantine", "end-quarantine"}


@pytest.mark.both_databases
def test_it_says_what_may_have_happened(operator: Window, database: Database) -> None:
    order = begin(database, operator, QuarantineCause.RESTORED)

    page = operator.open(PAGE)

    assert f'href="/console/orders/{order}"'.encode() in page.body
    assert b"<b>prints</b>" not in page.body
    heading = "Open orders that may have been changed, submitted or cancelled 1"
    assert heading in operator.words(PAGE)


def test_whoever_was_left_behind_by_a_move_is_warned(operator: Window, database: Database) -> None:
    begin(database, operator, QuarantineCause.MOVED)

    assert "printed and paid for twice" in operator.words(PAGE)


def test_a_merchant_is_not_told(alice: Window, operator: Window, database: Database) -> None:
    begin(database, operator, QuarantineCause.RESTORED)

    assert BANNER not in alice.words("/orders")


def test_only_an_admin_can_end_it(server: Server, operator: Window, database: Database) -> None:
    begin(database, operator, QuarantineCause.RESTORED)

    viewer = open_console(server, database, Role.VIEWER)

    assert "Only an admin can end it." in viewer.words(PAGE)
