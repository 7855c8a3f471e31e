"""Issues at the console: the queue, and the three ways to settle one."""

from pathlib import Path

import pytest

from printworks.dashboard.console.issues import issues
from printworks.files import open_files
from printworks.rules.issues import IssueAction, IssueState, Resolution
from printworks.rules.orders import OrderStatus
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.images.pictures import proof_keys
from printworks.store.issues.issues import Issue, get_any_issue
from printworks.store.money.ledger import read_books
from printworks.store.views.console.orders import get_any_order
from tests.dashboard.scenes import HOSTILE, complain_about, last_entry
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window

pytestmark = pytest.mark.both_databases


def see(database: Database, issue: Issue) -> Issue:
    """Return an issue as it is now."""
    with database.reading() as db:
        return get_any_issue(db, issue.id)


def images_of(database: Database, order_id: int) -> list[int]:
    """Return the numbers of an order's images."""
    with database.reading() as db:
        return [image.id for image in list_images(db, order_id)]


def store_proofs(settings: Settings, images: list[int], folder: Path) -> None:
    """Put proofs where those of images are."""
    picture = folder / "proof.jpg"
    picture.write_bytes(b"a proof")
    for image in images:
        for key in proof_keys(image):
            open_files(settings).put(key, picture)


def test_the_queue_begins_with_the_oldest_and_settled_ones_are_elsewhere(
    operator: Window, alice: Window, bob: Window, database: Database
) -> None:
    first = complain_about(database, alice)
    second = complain_about(database, bob, action=IssueAction.REFUND)

    said = operator.words("/console/issues")
    assert 0 < said.index(f"Issue {first.id}") < said.index(f"Issue {second.id}")
    assert "Alice" in said
    assert "Refund" in said

    operator.do(f"/console/issues/{first.id}", "issue-dismiss", comment="No.")
    assert f"Issue {first.id}" not in operator.words("/console/issues")
    assert f"Issue {first.id}" in operator.words("/console/issues?show=settled")


def test_an_issue_is_taken_answered_and_dismissed(
    operator: Window, alice: Window, database: Database
) -> None:
    issue = complain_about(database, alice, detail=HOSTILE)
    page = f"/console/issues/{issue.id}"
    assert HOSTILE in operator.words(page)
    assert HOSTILE not in operator.open(page).body.decode()

    assert "The issue is in progress." in operator.follow(operator.do(page, "issue-take"))
    assert operator.do(page, "issue-take").status == 400
    assert operator.do(page, "issue-answer", comment=" ").status == 400
    said = operator.follow(operator.do(page, "issue-answer", comment="Send us a photo."))
    assert "Send us a photo." in said
    assert last_entry(database).action == "answer-issue"
    assert "Send us a photo." in alice.words(f"/issues/{issue.id}")

    refused = operator.do(page, "issue-dismiss", comment="")
    assert refused.status == 400
    assert "a sentence for the merchant" in words_of(refused)
    operator.do(page, "issue-dismiss", comment="It is not ours.")
    settled = see(database, issue)
    assert (settled.state, settled.resolution) == (
        IssueState.CLOSED_RESOLVED,
        Resolution.NO_ACTION,
    )


def test_money_goes_back_to_the_balance_once_and_not_more_than_was_charged(
    operator: Window, alice: Window, database: Database
) -> None:
    issue = complain_about(database, alice)
    page = f"/console/issues/{issue.id}"
    with database.reading() as db:
        owed = read_books(db, issue.merchant_id).balance

    for amount in ("0", "-1", "much", "1.005", "1e9", "nan", ""):
        refused = operator.do(page, "issue-refund", amount=amount, comment="Sorry.")
        assert refused.status == 400, amount
    assert see(database, issue).state is IssueState.OPEN

    answer = operator.do(page, "issue-refund", amount="£1.50", comment="Sorry for that.")

    said = operator.follow(answer)
    assert "£1.50 was refunded to the merchant's balance" in said
    assert "Sorry for that." in said
    with database.reading() as db:
        assert read_books(db, issue.merchant_id).balance == owed - 150
    entry = last_entry(database)
    assert (entry.action, entry.subject) == ("refund-issue", f"issue {issue.id}")
    assert (entry.merchant_id, entry.details) == (
        issue.merchant_id,
        {"amount": 150, "currency": "GBP"},
    )
    assert operator.do(page, "issue-refund", amount="1", comment="Again.").status == 400


def test_chosen_images_are_printed_again_and_the_merchant_sees_the_order(
    operator: Window, alice: Window, database: Database, settings: Settings, tmp_path: Path
) -> None:
    issue = complain_about(database, alice)
    page = f"/console/issues/{issue.id}"
    first, second = images_of(database, issue.order_id)
    store_proofs(settings, [second], tmp_path)

    assert operator.do(page, "issue-reprint", comment="Sorry.").status == 400
    assert operator.do(page, "issue-reprint", image=str(second)).status == 400
    stranger = operator.do(page, "issue-reprint", image="987654", comment="Sorry.")
    assert "images of this order only" in words_of(stranger)
    # The proofs of the first are gone.
    gone = operator.do(page, "issue-reprint", image=[first, second], comment="Sorry.")
    assert gone.status == 400
    assert f"Image {first} cannot be printed again, because its proofs are not stored" in words_of(
        gone
    )
    assert see(database, issue).state is IssueState.OPEN

    answer = operator.do(page, "issue-reprint", image=str(second), comment="Sorry.")

    assert "A free reprint was ordered." in operator.follow(answer)
    settled = see(database, issue)
    assert settled.resolution is Resolution.REPRINT
    reprint = settled.reprint_order_id or 0
    with database.reading() as db:
        again = get_any_order(db, reprint)
    assert (again.status, again.price) == (OrderStatus.SUBMITTED, 0)
    [copy] = images_of(database, reprint)
    assert open_files(settings).read(proof_keys(copy)[0]) == b"a proof"
    entry = last_entry(database)
    assert (entry.action, entry.details) == ("reprint-issue", {"reprint": reprint})
    assert str(reprint) in alice.words(f"/issues/{issue.id}")
    # Both say so, and lead to each other.
    for window, orders in ((alice, "/orders"), (operator, "/console/orders")):
        new, old = (window.open(f"{orders}/{one}") for one in (reprint, issue.order_id))
        assert "This is a free reprint" in words_of(new)
        assert f'href="{orders}/{issue.order_id}"' in new.body.decode()
        assert "This order was printed again" in words_of(old)
        assert f'href="{orders}/{reprint}"' in old.body.decode()
        assert "Reprint" in window.words(orders)


def test_images_that_the_form_has_no_room_for_are_printed_again_with_the_others(
    operator: Window,
    alice: Window,
    database: Database,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(issues, "IMAGES", 1)
    issue = complain_about(database, alice)
    page = f"/console/issues/{issue.id}"
    first, second = images_of(database, issue.order_id)
    store_proofs(settings, [first, second], tmp_path)
    assert "And the other 1 affected images, which are not shown" in operator.words(page)

    without = operator.do(page, "issue-reprint", image=str(first), comment="")
    operator.do(page, "issue-reprint", image=str(first), others="yes", comment="Sorry.")

    assert 'name="others" value="yes">' in without.body.decode()
    reprint = see(database, issue).reprint_order_id or 0
    assert len(images_of(database, reprint)) == 2


def test_an_issue_that_does_not_exist_is_not_found(operator: Window) -> None:
    assert operator.open("/console/issues/987654").status == 404
    assert operator.open("/console/issues/987654/photos/1").status == 404
    token = operator.token("/console/settings")
    sent = {"form_token": token, "do": "issue-take"}
    assert operator.send("/console/issues/987654", sent).status == 404
