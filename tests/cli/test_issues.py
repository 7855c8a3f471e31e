"""`printworks issue`: an operator settles what merchants complain about."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from printworks.actions.issues.issues import open_issue
from printworks.clock import system_clock
from printworks.files.folder import FolderFiles
from printworks.rules.issues import IssueAction, IssueKind
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.images.pictures import NewPicture, proof_key, store_picture
from printworks.store.issues.issues import Issue, NewIssue
from printworks.store.orders.orders import Order, get_order
from printworks.store.tables import images
from printworks.store.views.console.jobs import JobFilter, get_job, list_jobs
from tests.cli.operators import NO_NUMBER, Operator, make_operator
from tests.cli.program import run
from tests.factories import a_work
from tests.worker.shops import A_PICTURE


def complain(keeper: Operator, order: Order, **values: Any) -> Issue:
    """Let the merchant complain about an order."""
    given = {"kind": IssueKind.DAMAGED_ORDER, "action": IssueAction.REPRINT, **values}
    with keeper.database.writing() as db:
        return open_issue(a_work(db, keeper.merchant, now=system_clock()), order, NewIssue(**given))


def an_issue(keeper: Operator, **values: Any) -> str:
    """Let the merchant complain about a new order; return the number of the issue."""
    order, _ = keeper.submits_an_order()
    return str(complain(keeper, order, **values).id)


def keep_files(keeper: Operator, order: Order) -> FolderFiles:
    """Do as if the pictures of an order had been received, and return where they are."""
    files = FolderFiles(keeper.data / "files")
    source = keeper.data / "cat.jpg"
    source.write_bytes(A_PICTURE)
    with keeper.database.writing() as db:
        new = NewPicture(sha256="0" * 64, md5="1" * 32, size=9, original="originals/cat.jpg")
        picture = store_picture(db, new, now=system_clock())
        db.execute(update(images).values(picture_id=picture.id, width=600, height=900))
        for image in list_images(db, order.id):
            for name in ("preview", "thumbnail"):
                files.put(proof_key(image.id, name), source)
    return files


@pytest.mark.both_databases
def test_the_list_shows_what_was_complained_about(keeper: Operator) -> None:
    order, _ = keeper.submits_an_order()
    issue = complain(keeper, order)

    for_people = keeper.asks("issue", "list", "--open").said.splitlines()
    [for_programs] = keeper.reads("issue", "list", "--merchant", keeper.merchant.code)

    assert for_people[1].split()[:2] == [str(issue.id), str(order.id)]
    assert for_people[1].split()[-3:] == ["DamagedOrder", "Reprint", "Open"]
    assert (for_programs["id"], for_programs["issueState"]) == (issue.id, "Open")


def test_an_empty_list_says_so(keeper: Operator) -> None:
    assert keeper.asks("issue", "list").said == "There is no such issue.\n"
    assert keeper.reads("issue", "list", "--open") == []


def test_a_merchant_that_does_not_exist_is_a_mistake(keeper: Operator) -> None:
    ended = keeper.asks("issue", "list", "--merchant", "nobody")

    assert ended.code == 1
    assert ended.complained == "printworks: There is no merchant 'nobody'.\n"


@pytest.mark.both_databases
def test_an_issue_is_taken_and_ended_without_action(keeper: Operator) -> None:
    number = an_issue(keeper, detail="It is torn.")

    assert keeper.asks("issue", "take", number).said == f"Issue {number} is InProgress.\n"
    ended = keeper.asks("issue", "resolve", number, "--no-action", "--comment", "It is not.")

    assert ended.said == f"Issue {number} is ClosedResolved.\n"
    said = keeper.asks("issue", "show", number).said
    assert "DamagedOrder: It is torn." in said
    assert "Service: It is not. Nothing was done." in said
    assert keeper.asks("issue", "list", "--open").said == "There is no such issue.\n"
    assert keeper.asks("issue", "take", number).complained == (
        "printworks: An issue that is ClosedResolved cannot become InProgress.\n"
    )


@pytest.mark.both_databases
def test_money_goes_to_the_balance_and_the_ledger_adds_up(keeper: Operator) -> None:
    number = an_issue(keeper)

    settled = keeper.reads("issue", "resolve", number, "--refund", "25", "--comment", "Sorry.")

    assert (settled["resolution"], settled["refund"]) == ("refund", 25)
    assert f"issue {number} of order" in (
        keeper.asks("ledger", "statement", keeper.merchant.code).said
    )
    assert keeper.asks("ledger", "verify").code == 0


def test_more_than_was_charged_is_a_mistake(keeper: Operator) -> None:
    number = an_issue(keeper)

    ended = keeper.asks("issue", "resolve", number, "--refund", "999999", "--comment", "Sorry.")

    assert ended.code == 1
    assert "can be refunded for the order" in ended.complained
    assert keeper.reads("issue", "show", number)["issueState"] == "Open"


@pytest.mark.both_databases
def test_a_reprint_is_another_order_with_its_own_proofs(keeper: Operator) -> None:
    order, _ = keeper.submits_an_order()
    files = keep_files(keeper, order)
    number = str(complain(keeper, order).id)

    settled = keeper.reads("issue", "resolve", number, "--reprint", "--comment", "Sorry.")

    with keeper.database.reading() as db:
        again = get_order(db, keeper.merchant.id, settled["reprintOrderId"])
        [image] = list_images(db, again.id)
    assert (again.status, again.price) == (OrderStatus.SUBMITTED, 0)
    assert files.read(proof_key(image.id, "thumbnail")) == A_PICTURE
    assert f"Order {again.id} prints it again" in keeper.asks("issue", "show", number).said
    assert keeper.asks("ledger", "verify").code == 0


def test_a_reprint_that_no_lab_can_make_leaves_nothing_behind(keeper: Operator) -> None:
    order, _ = keeper.submits_an_order()
    files = keep_files(keeper, order)
    number = str(complain(keeper, order).id)
    before = sorted(files.keys())
    with keeper.database.writing() as db:
        db.execute(update(images).values(sku="GONE"))

    ended = keeper.asks("issue", "resolve", number, "--reprint", "--comment", "Sorry.")

    assert ended.code == 1
    assert "The sku GONE" in ended.complained
    assert keeper.reads("issue", "show", number)["issueState"] == "Open"
    with keeper.database.reading() as db:
        [removal] = list_jobs(db, JobFilter(kind=JobKind.REMOVE_FILES), limit=9)
        removed = get_job(db, removal.id).args["files"]
    assert sorted(files.keys()) == sorted([*before, *removed])


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--reprint", "--no-action"),
        ("--refund", "5", "--no-action"),
        ("--refund", "0"),
        ("--refund", "lots"),
    ],
)
def test_one_way_to_settle_it_is_needed(tmp_path: Path, options: tuple[str, ...]) -> None:
    words = ("issue", "resolve", "1", *options, "--comment", "Sorry.")

    assert run(*words, "--data", tmp_path).code == 2


def test_a_comment_is_needed(tmp_path: Path) -> None:
    assert run("issue", "resolve", "1", "--no-action", "--data", tmp_path).code == 2


@pytest.mark.parametrize("number", ["1", "0", NO_NUMBER])
@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("take",),
        ("resolve", "--reprint", "--comment", "x"),
        ("resolve", "--refund", "5", "--comment", "x"),
        ("resolve", "--no-action", "--comment", "x"),
    ],
)
def test_an_issue_that_does_not_exist_is_a_mistake(
    sqlite_keeper: Operator, words: tuple[str, ...], number: str
) -> None:
    verb, *options = words

    ended = sqlite_keeper.asks("issue", verb, number, *options)

    assert ended.code == 1
    assert ended.complained == f"printworks: There is no issue {number}.\n"


@pytest.fixture
def sqlite_keeper(sqlite_database: Database, tmp_path: Path) -> Operator:
    """An operator of a small service."""
    return make_operator(sqlite_database, tmp_path)
