"""Complaints: who may make them about what, and what settles them without spoiling the books."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Connection, select

from printworks.actions.issues.issues import (
    dismiss_issue,
    find_issue,
    take_issue,
    update_issue,
)
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.events import IssueMoved, OrderCompensated
from printworks.rules.issues import (
    MOST_REMARKS,
    IssueKind,
    IssueState,
    Resolution,
)
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.lifecycle import set_currency
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.issues.issues import (
    Issue,
    get_any_issue,
    get_issue,
    list_any_issues,
    list_issues,
)
from printworks.store.money.ledger import NewLedgerEntry, list_entries, post_entry, read_books
from printworks.store.orders.events import list_events
from printworks.store.tables import issues as issues_table
from tests.actions.complaints import (
    a_draft,
    cancel,
    commentary,
    complain,
    refund,
    reprint,
    submitted,
)
from tests.actions.test_ledger import find_faults, pay_by_card
from tests.factories import NOON, a_merchant, a_system_work, a_work_of

_S = IssueState


class TestOpening:
    def test_a_new_issue_is_open_and_remembers_what_was_said(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = submitted(db, merchant)
            affected = [list_images(db, order.id)[1].id]

            issue = complain(db, merchant, order, detail="It is torn.", image_ids=affected)

            assert issue == get_issue(db, merchant.id, issue.id)
            assert (issue.state, issue.order_id) == (_S.OPEN, order.id)
            assert (issue.detail, issue.image_ids) == ("It is torn.", affected)
            assert "Issue created" in commentary(db, issue)
            opened = IssueMoved(issue=issue.id, was=None, state=_S.OPEN)
            assert opened in list_events(db, order.id)

    def test_an_image_of_another_order_is_refused(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order, other = submitted(db, merchant), submitted(db, merchant)
            theirs = list_images(db, other.id)[0].id

            with pytest.raises(BadInput, match=f"`affectedImages` names {theirs}"):
                complain(db, merchant, order, image_ids=[theirs])

    def test_a_draft_can_have_every_issue_and_no_compensation(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)

            issue = complain(db, merchant, a_draft(db, merchant), kind=IssueKind.LOST_IN_POST)

            with pytest.raises(WrongState, match="The order is NotYetSubmitted: nothing is"):
                refund(db, issue, 1)
            assert get_issue(db, merchant.id, issue.id) == issue

    def test_a_cancelled_order_can_have_an_issue(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = cancel(db, merchant, submitted(db, merchant))

            assert complain(db, merchant, order).state is _S.OPEN


class TestReading:
    def test_somebody_elses_issue_does_not_exist(self, database: Database) -> None:
        with database.writing() as db:
            alice, bob = a_merchant(db, "Alice"), a_merchant(db, "Bob")
            order = submitted(db, alice)
            issue = complain(db, alice, order)

            with pytest.raises(NotFound) as theirs:
                get_issue(db, bob.id, issue.id)
            with pytest.raises(NotFound) as nobodys:
                get_issue(db, bob.id, issue.id + 1)
            assert theirs.value.message == nobodys.value.message
            assert list_issues(db, bob.id, order.id) == []

    def test_an_issue_of_another_order_is_bad_input(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order, other = submitted(db, merchant), submitted(db, merchant)
            issue = complain(db, merchant, order)

            assert find_issue(db, merchant, order, issue.id) == issue
            with pytest.raises(BadInput, match=f"not about order {other.id}"):
                find_issue(db, merchant, other, issue.id)

    @pytest.mark.parametrize("number", [0, -1, 2**63, 10**30])
    def test_a_number_that_no_row_has_is_nobodys(self, database: Database, number: int) -> None:
        with database.reading() as db:
            with pytest.raises(NotFound):
                get_issue(db, 1, number)
            with pytest.raises(NotFound):
                get_any_issue(db, number)

    def test_operators_see_the_oldest_unsettled_first(self, database: Database) -> None:
        with database.writing() as db:
            alice, bob = a_merchant(db, "Alice"), a_merchant(db, "Bob")
            order = submitted(db, alice)
            kept, dropped, last = (complain(db, alice, order) for _ in range(3))
            other = complain(db, bob, submitted(db, bob))
            update_issue(a_work_of(db, dropped, now=NOON), dropped, wanted=_S.CANCELLED)

            def found(**wanted: Any) -> list[int]:
                return [issue.id for issue in list_any_issues(db, limit=10, **wanted)]

            assert found(unsettled=True) == [kept.id, last.id, other.id]
            assert found() == [other.id, last.id, dropped.id, kept.id]
            assert found(merchant_id=bob.id) == [other.id]


class TestUpdating:
    def test_a_comment_is_added_to_the_commentary(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))

            updated = update_issue(a_work_of(db, issue, now=NOON), issue, comment="Any news?")

            assert updated.state is _S.OPEN
            assert commentary(db, issue).endswith("Merchant: Any news?")

    @pytest.mark.parametrize("is_taken", [False, True])
    def test_a_merchant_can_drop_what_is_not_settled(
        self, database: Database, is_taken: bool
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))
            if is_taken:
                issue = take_issue(a_system_work(db, now=NOON), issue.id, comment=None)

            dropped = update_issue(
                a_work_of(db, issue, now=NOON), issue, wanted=_S.CANCELLED, comment="Found it."
            )

            assert dropped == get_any_issue(db, issue.id)
            assert dropped.state is _S.CANCELLED
            assert commentary(db, issue).splitlines()[-2:] == [
                f"2026-11-15 12:00:00 Merchant: State changed from {issue.state} to cancelled.",
                "2026-11-15 12:00:00 Merchant: Found it.",
            ]

    def test_the_state_that_it_has_is_refused(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))
            with pytest.raises(WrongState, match="is Open already"):
                update_issue(a_work_of(db, issue, now=NOON), issue, wanted=_S.OPEN)
            dropped = update_issue(a_work_of(db, issue, now=NOON), issue, wanted=_S.CANCELLED)

            with pytest.raises(WrongState, match="is cancelled already"):
                update_issue(a_work_of(db, dropped, now=NOON), dropped, wanted=_S.CANCELLED)

    def test_a_merchant_cannot_settle_its_own_issue(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))

            with pytest.raises(BadInput, match="`newState` can only be cancelled"):
                update_issue(a_work_of(db, issue, now=NOON), issue, wanted=_S.CLOSED_RESOLVED)

    def test_nothing_new_changes_nothing(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))
            said = commentary(db, issue)

            assert update_issue(a_work_of(db, issue, now=NOON), issue) == issue
            assert commentary(db, issue) == said

    def test_comments_come_to_an_end(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))
            for _ in range(MOST_REMARKS - 1):
                update_issue(a_work_of(db, issue, now=NOON), issue, comment="And?")

            with pytest.raises(WrongState, match="no more"):
                update_issue(a_work_of(db, issue, now=NOON), issue, comment="And?")
            assert dismiss_issue(
                a_system_work(db, now=NOON), issue.id, comment="Enough."
            ).resolution


class TestSettling:
    def test_an_issue_is_taken_and_ended_without_action(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))

            assert (
                take_issue(a_system_work(db, now=NOON), issue.id, comment=None).state
                is _S.IN_PROGRESS
            )
            ended = dismiss_issue(a_system_work(db, now=NOON), issue.id, comment="It was on time.")

            assert (ended.state, ended.resolution) == (_S.CLOSED_RESOLVED, Resolution.NO_ACTION)
            assert commentary(db, issue).splitlines()[-3:] == [
                "2026-11-15 12:00:00 Service: State changed from Open to InProgress.",
                "2026-11-15 12:00:00 Service: State changed from InProgress to ClosedResolved.",
                "2026-11-15 12:00:00 Service: It was on time. Nothing was done.",
            ]

    def test_an_open_issue_is_taken_on_the_way(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = submitted(db, merchant)
            issue = complain(db, merchant, order)

            dismiss_issue(a_system_work(db, now=NOON), issue.id, comment="No.")

            moves = [one.state for one in list_events(db, order.id) if isinstance(one, IssueMoved)]
            assert moves == [_S.OPEN, _S.IN_PROGRESS, _S.CLOSED_RESOLVED]

    @pytest.mark.parametrize("comment", ["", "  "])
    def test_a_comment_is_needed(self, database: Database, comment: str) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))

            with pytest.raises(BadInput, match="comment"):
                dismiss_issue(a_system_work(db, now=NOON), issue.id, comment=comment)

    SETTLE: tuple[Callable[[Connection, Issue], Issue], ...] = (
        lambda db, issue: dismiss_issue(a_system_work(db, now=NOON), issue.id, comment="No."),
        lambda db, issue: refund(db, issue, 1),
        reprint,
    )

    @pytest.mark.parametrize("again", SETTLE, ids=["nothing", "money", "prints"])
    def test_what_is_settled_cannot_be_settled_again(
        self, database: Database, again: Callable[[Connection, Issue], Issue]
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = refund(db, complain(db, merchant, submitted(db, merchant)), 1)

            with pytest.raises(WrongState, match="ClosedResolved already"):
                again(db, issue)

            assert find_faults(db, merchant) == []


class TestRefunds:
    def test_a_refund_is_a_credit_and_the_books_stay_clean(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = submitted(db, merchant)
            issue = complain(db, merchant, order)

            settled = refund(db, issue, 100)

            assert (settled.resolution, settled.refund) == (Resolution.REFUND, 100)
            assert read_books(db, merchant.id).balance == order.price - 100
            *_, last = list_entries(db, merchant.id)
            assert (last.entry.kind, last.entry.owed) == ("credit", -100)
            assert last.entry.memo == f"issue {issue.id} of order {order.id}"
            made_good = OrderCompensated(issue=issue.id, refund=100, currency="GBP", reprint=None)
            assert made_good in list_events(db, order.id)
            assert "Sorry. 1.00 GBP went to the balance." in commentary(db, issue)
            assert find_faults(db, merchant) == []

    def test_what_was_charged_in_another_currency_is_not_credited_to_the_account(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))
            before = read_books(db, merchant.id).balance
            set_currency(db, merchant.id, Currency.EUR)

            with pytest.raises(WrongState, match="charged in GBP, and the account is kept in EUR"):
                refund(db, issue, 100)

            assert read_books(db, merchant.id).balance == before
            assert get_issue(db, merchant.id, issue.id) == issue

    def test_no_more_is_given_back_than_was_charged(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = submitted(db, merchant)
            first, second, third = (complain(db, merchant, order) for _ in range(3))

            refund(db, first, 1)
            with pytest.raises(WrongState, match="can be refunded"):
                refund(db, second, order.price)
            refund(db, second, order.price - 1)
            with pytest.raises(WrongState, match="Nothing is left"):
                refund(db, third, 1)

            assert read_books(db, merchant.id).balance == 0
            assert find_faults(db, merchant) == []

    def test_what_a_card_paid_goes_to_the_balance(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = pay_by_card(db, merchant)

            refund(db, complain(db, merchant, order), order.price)

            assert read_books(db, merchant.id).balance == -order.price
            assert find_faults(db, merchant) == []

    def test_a_cancelled_order_was_given_back_already(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = cancel(db, merchant, submitted(db, merchant))

            with pytest.raises(WrongState, match="The order is Cancelled: nothing is charged"):
                refund(db, complain(db, merchant, order), 1)

    def test_what_was_made_good_cannot_be_cancelled_as_well(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            refunded, printed_again = submitted(db, merchant), submitted(db, merchant)
            refund(db, complain(db, merchant, refunded), 1)
            reprint(db, complain(db, merchant, printed_again))

            for order in (refunded, printed_again):
                with pytest.raises(WrongState, match="no longer be cancelled"):
                    cancel(db, merchant, order)

    def test_an_issue_that_came_to_nothing_does_not_forbid_to_cancel(
        self, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = submitted(db, merchant)
            dismiss_issue(
                a_system_work(db, now=NOON), complain(db, merchant, order).id, comment="No."
            )

            assert cancel(db, merchant, order).status is OrderStatus.CANCELLED
            assert find_faults(db, merchant) == []

    def test_a_key_that_was_used_by_hand_is_noticed(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            issue = complain(db, merchant, submitted(db, merchant))
            key = f"credit-issue-{issue.id}"
            by_hand: dict[str, Any] = {"key": key, "kind": EntryKind.CREDIT}
            post_entry(
                db, merchant.id, NewLedgerEntry(**by_hand, amount=5, currency="GBP"), now=NOON
            )

            with pytest.raises(WrongState, match="posted before"):
                refund(db, issue, 1)


def test_an_issue_that_has_just_changed_is_not_changed_again(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        issue = complain(db, merchant, submitted(db, merchant))
        take_issue(a_system_work(db, now=NOON), issue.id, comment=None)

        with pytest.raises(WrongState, match="just changed"):
            update_issue(a_work_of(db, issue, now=NOON), issue, wanted=_S.CANCELLED)

        assert db.execute(select(issues_table.c.state)).scalar_one() is _S.IN_PROGRESS


def test_two_operators_at_once_do_not_give_back_more_than_was_charged(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        issues = [complain(db, merchant, order) for _ in range(2)]
    start = threading.Barrier(2)

    def give_all_back(issue: Issue) -> bool:
        start.wait()
        try:
            with database.writing() as db:
                refund(db, issue, order.price)
        except WrongState:
            return False
        return True

    with ThreadPoolExecutor(2) as threads:
        given = list(threads.map(give_all_back, issues))

    assert sorted(given) == [False, True]
    with database.reading() as db:
        assert read_books(db, merchant.id).balance == 0
        assert find_faults(db, merchant) == []
