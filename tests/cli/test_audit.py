"""Whatever an operator changes on the command line is in the audit log."""

import shlex
from collections.abc import Mapping

import pytest

from printworks.actions.callbacks import set_callback
from printworks.actions.issues.issues import open_issue
from printworks.cli.session import WHO
from printworks.clock import system_clock
from printworks.rules.issues import IssueAction, IssueKind
from printworks.rules.people import Realm
from printworks.store.accounts.audit import list_audit
from printworks.store.callbacks.callbacks import list_callbacks
from printworks.store.issues.issues import NewIssue
from printworks.store.views.console.jobs import list_jobs
from tests.cli.operators import Operator
from tests.factories import a_work

# The last of the commands leaves the line.
COMMANDS = [
    ("merchant add Shop", "add-merchant"),
    ("merchant billing {merchant} --limit 500", "change-billing"),
    ("merchant callback set {merchant} https://shop.example/x", "set-callback"),
    ("merchant callback clear {merchant}", "clear-callback"),
    ("merchant callback secret {merchant} --rotate", "rotate-callback-secret"),
    ("merchant callback test {merchant}", "test-callback"),
    ("merchant invite new@shop.example", "invite-merchant"),
    ("merchant invite-colleague {merchant} c@shop.example", "invite-colleague"),
    ("key rotate {merchant}", "rotate-keys"),
    ("operator invite pat@works.example", "invite-operator"),
    ("ledger credit {merchant} 500 --memo late", "post-credit"),
    ("ledger payment {merchant} 500 --memo transfer", "post-payment"),
    ("jobs cancel {job}; jobs retry {job}", "retry-job"),
    ("jobs cancel {job}", "cancel-job"),
    ("order hold {order}", "hold-order"),
    ("order hold {order}; order release {order}", "release-order"),
    ("lab accept {shipment}", "report-for-lab"),
    ("lab fail {shipment} --reason Fire.; lab print-again {shipment}", "offer-again"),
    ("issue take {issue}", "take-issue"),
    ("issue resolve {issue} --no-action --comment No.", "dismiss-issue"),
    ("issue resolve {issue} --refund 25 --comment Sorry.", "refund-issue"),
    ("callback send-again {callback}", "send-callback-again"),
    ("callback replay {merchant} --after 0", "replay-callbacks"),
    ("clock advance {merchant} 1h", "advance-clock"),
]


@pytest.mark.parametrize(("commands", "action"), COMMANDS)
@pytest.mark.parametrize("backend", ["sqlite"])
def test_what_a_command_changes_is_audited(keeper: Operator, commands: str, action: str) -> None:
    ids = _make_everything(keeper)

    for command in commands.format_map(ids).split("; "):
        assert keeper.reads(*shlex.split(command))

    with keeper.database.reading() as db:
        [line] = list_audit(db, limit=1)
    assert (line.action, line.realm, line.who) == (action, Realm.OPERATOR, WHO)


def _make_everything(keeper: Operator) -> Mapping[str, object]:
    """Make one of everything that commands are about; return their numbers by what they are."""
    with keeper.database.writing() as db:
        set_callback(a_work(db, keeper.merchant, now=system_clock()), "https://shop.example/")
    order, shipment = keeper.submits_an_order()
    new = NewIssue(kind=IssueKind.DAMAGED_ORDER, action=IssueAction.REFUND)
    with keeper.database.writing() as db:
        issue = open_issue(a_work(db, keeper.merchant, now=system_clock()), order, new)
        job = list_jobs(db, limit=1)[0]
        callback = list_callbacks(db, keeper.merchant.id, limit=1)[0]
    return {
        "merchant": keeper.merchant.code,
        "order": order.id,
        "shipment": shipment.id,
        "issue": issue.id,
        "job": job.id,
        "callback": callback.id,
    }
