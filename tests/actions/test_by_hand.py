"""Money that operators post by hand: with a reason, and above a limit by two of them."""

from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import Connection, delete, update

from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.invoices.issuing import make_document
from printworks.actions.orders.orders import cancel_order
from printworks.actions.payments.by_hand import (
    PostedByHand,
    PostingByHand,
    approve,
    post_money,
    reject,
    reverse_entry,
)
from printworks.actions.payments.ledger import post_by_hand, verify_ledgers
from printworks.actions.payments.payments import record_refunded
from printworks.actions.work import Actor
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.approvals import MoneyTerms
from printworks.rules.invoices import InvoiceKind, Invoicing
from printworks.rules.ledger import Account, EntryKind, LedgerLine, reversal_key
from printworks.rules.people import Realm
from printworks.rules.sales import Figures
from printworks.store.accounts.lifecycle import set_currency
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.money.approvals import list_waiting
from printworks.store.money.ledger import (
    NewLedgerEntry,
    get_entry,
    list_entries,
    post_entry,
    read_books,
    read_credit_limit,
)
from printworks.store.money.sales import list_sales_days
from printworks.store.tables import invoice_causes, ledger_entries
from tests.actions.complaints import complain, refund, submitted
from tests.actions.invoicing import a_shop, collect_all, make_all
from tests.actions.test_ledger import CATALOGUE, pay_by_card
from tests.actions.test_taxes import sell
from tests.factories import NOON, a_merchant, a_system_work, a_work

ANN: Final = Actor(Realm.OPERATOR, "ann@example.com")
BEN: Final = Actor(Realm.OPERATOR, "ben@example.com")
STRICT: Final = MoneyTerms(approve_above=1000)
K: Final = EntryKind
DAY: Final = timedelta(days=1)


def post(
    db: Connection, merchant: Merchant, kind: EntryKind, amount: int, **given: Any
) -> PostedByHand:
    """Post something by hand."""
    work = a_work(db, merchant, **{"actor": ANN, **given})
    return post_money(work, PostingByHand(kind=kind, amount=amount, memo=" because "))


def owed(db: Connection, merchant: Merchant) -> int:
    return read_books(db, merchant.id).balance


def find_faults(database: Database) -> list[str]:
    with database.reading() as db:
        return [one.fault.kind for one in verify_ledgers(db).faults]


def test_debits_credits_and_pay_outs_are_posted_and_reversed_once(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        work = a_work(db, merchant, actor=ANN)
        post(db, merchant, K.CREDIT, 500)
        post(db, merchant, K.PAYOUT, 300)
        post(db, merchant, K.DEBIT, 50)
        post_by_hand(work, K.PAYMENT, 70, "transfer")
        assert owed(db, merchant) == -500 + 300 + 50 - 70

        for number in (1, 2, 3, 4):
            assert reverse_entry(work, number, "a mistake").entry is not None

        assert owed(db, merchant) == 0
        kinds = [booked.entry.kind for booked in list_entries(db, merchant.id)]
        assert kinds[4:] == [
            *("credit-reversal", "payout-reversal", "debit-reversal", "payment-reversal")
        ]
        total = Figures()
        for day in list_sales_days(db, merchant.id):
            total = total.plus(day.figures)
        assert total == Figures()
        with pytest.raises(WrongState, match="was reversed before"):
            reverse_entry(work, 1, "again")
    assert find_faults(database) == []


def test_the_tax_of_a_credit_is_reversed_with_it(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        refund(db, complain(db, merchant, submitted(db, merchant)), 60)

        posted = reverse_entry(a_work(db, merchant, actor=ANN), 2, "the wrong order")

        assert posted.entry is not None
        assert (posted.entry.amount, posted.entry.tax) == (60, 10)
        assert posted.entry.lines == (
            LedgerLine(Account.RECEIVABLE, 60),
            LedgerLine(Account.GOODWILL, -50),
            LedgerLine(Account.TAX, -10),
        )
    assert find_faults(database) == []


def test_nothing_is_posted_in_a_currency_that_an_account_had_before(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        post(db, merchant, K.CREDIT, 500)
        post(db, merchant, K.PAYOUT, 500)
        waiting = post(db, merchant, K.CREDIT, 2000, money_terms=STRICT).approval
        set_currency(db, merchant.id, Currency.EUR)
        kept_in_euros = get_merchant(db, merchant.id)
    assert waiting is not None

    for do in (
        lambda db: approve(a_system_work(db, actor=BEN), waiting),
        lambda db: reverse_entry(a_work(db, kept_in_euros, actor=ANN), 1, "a mistake"),
    ):
        with pytest.raises(WrongState, match="is kept in EUR by now"), database.writing() as db:
            do(db)

    with database.writing() as db:
        assert owed(db, merchant) == 0
        reject(a_system_work(db, actor=BEN), waiting)
        assert list_waiting(db, limit=9) == []


def test_a_reversal_without_the_tax_of_its_credit_is_found(database: Database) -> None:
    with database.writing() as db:
        sell(db)
        merchant = a_merchant(db)
        refund(db, complain(db, merchant, submitted(db, merchant)), 60)
        untaxed = NewLedgerEntry(
            key=reversal_key(get_entry(db, merchant.id, 2)),
            kind=K.CREDIT_REVERSAL,
            amount=60,
            currency="GBP",
        )
        post_entry(db, merchant.id, untaxed, now=NOON)

    assert find_faults(database) == ["reversal-tax", "invoice-missing"]


@pytest.mark.parametrize("invoicing", Invoicing)
@pytest.mark.parametrize("first", ["invoice", "credit note", "reversal"])
def test_a_reversed_credit_is_invoiced_again_as_its_credit_note_said(
    database: Database, invoicing: Invoicing, first: str
) -> None:
    with database.writing() as db:
        merchant = a_shop(db, invoicing, iban="GB33BUKB20201555555555")
        refund(db, complain(db, merchant, submitted(db, merchant)), 60)
        reverse_entry(a_work(db, merchant, actor=ANN), 2, "the wrong order")
        earliest = {"invoice": 1, "credit note": 2, "reversal": 3}[first]
        make_document(a_work(db, merchant), earliest, payment_terms=DAY)

        invoice, note, again = (
            make_all(db, merchant)
            if invoicing is Invoicing.EACH_ORDER
            else collect_all(db, merchant)
        )

        assert (note.gross, note.tax) == (again.gross, again.tax) == (60, 10)
        assert (note.kind, again.kind) == (InvoiceKind.CREDIT_NOTE, InvoiceKind.INVOICE)
        assert again.corrects is not None
        assert again.corrects.number == note.number
        assert note.corrects is not None
        assert note.corrects.number == invoice.number
        assert again.sums == note.sums
        assert "reversed" in again.lines[0].description
        # It is set against what was credited: nobody is asked to pay it.
        assert (again.bank, again.due) == (None, 60)
        assert make_all(db, merchant) == [invoice, note, again]
    assert find_faults(database) == []


def test_a_reversed_credit_without_its_invoice_is_found(database: Database) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        refund(db, complain(db, merchant, submitted(db, merchant)), 60)
        reverse_entry(a_work(db, merchant, actor=ANN), 2, "the wrong order")
        make_all(db, merchant)
        db.execute(delete(invoice_causes).where(invoice_causes.c.entry == 3))

    assert find_faults(database) == ["invoice-missing", "invoice-amount"]


def test_a_credit_for_no_order_needs_no_document_and_neither_does_its_reversal(
    database: Database,
) -> None:
    with database.writing() as db:
        merchant = a_shop(db)
        post(db, merchant, K.CREDIT, 500)
        reverse_entry(a_work(db, merchant, actor=ANN), 1, "a mistake")

        assert make_all(db, merchant) == []
    assert find_faults(database) == []


def test_what_belongs_to_an_order_is_not_reversed_by_hand(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        pay_by_card(db, merchant)
        work = a_work(db, merchant, actor=ANN)

        for number in (1, 2):
            with pytest.raises(WrongState, match="changes with its order alone"):
                reverse_entry(work, number, "a mistake")
        with pytest.raises(NotFound, match="There is no entry 3"):
            reverse_entry(work, 3, "a mistake")


def test_a_reversal_of_nothing_is_found(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        post(db, merchant, K.CREDIT, 500)
        reverse_entry(a_work(db, merchant, actor=ANN), 1, "a mistake")
    assert find_faults(database) == []

    with database.writing() as db:
        db.execute(update(ledger_entries).where(ledger_entries.c.number == 2).values(key="x"))

    assert "reversal" in find_faults(database)


def test_a_reason_is_needed(database: Database) -> None:
    with database.writing() as db:
        work = a_work(db, a_merchant(db), actor=ANN)

        with pytest.raises(BadInput, match="Write the reason"):
            post_money(work, PostingByHand(kind=K.DEBIT, amount=1, memo=" "))


class TestPayOuts:
    def test_no_more_is_paid_out_than_is_there(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            post(db, merchant, K.CREDIT, 500)

            with pytest.raises(BadInput, match=r"At most 5\.00 GBP can be paid out"):
                post(db, merchant, K.PAYOUT, 501)

            assert post(db, merchant, K.PAYOUT, 500).entry is not None

    def test_what_is_on_its_way_back_to_a_card_is_not_paid_out(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            cancel_order(a_work(db, merchant, catalogue=CATALOGUE), pay_by_card(db, merchant))
            # It looks like a balance, and the card gets it.
            assert owed(db, merchant) < 0

            with pytest.raises(BadInput, match=r"At most 0\.00 GBP can be paid out"):
                post(db, merchant, K.PAYOUT, 1)

            record_refunded(a_system_work(db), 1)
            assert owed(db, merchant) == 0


class TestSecondPerson:
    def test_a_large_amount_waits_for_somebody_else(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            small = post(db, merchant, K.DEBIT, 1000, money_terms=STRICT)
            large = post(db, merchant, K.DEBIT, 1001, money_terms=STRICT)
            assert (small.approval, large.entry) == (None, None)
            assert owed(db, merchant) == 1000
            [waiting] = list_waiting(db, limit=5)
            assert (waiting.asked_by, waiting.merchant, waiting.memo) == (
                *("ann@example.com", "Alice", "because"),
            )

            entry = approve(a_system_work(db, actor=BEN), waiting.id)

            assert (entry.kind, entry.amount) == (K.DEBIT, 1001)
            assert owed(db, merchant) == 2001
            assert list_waiting(db, limit=5) == []
            with pytest.raises(WrongState, match="already been approved or rejected"):
                approve(a_system_work(db, actor=BEN), waiting.id)
        assert find_faults(database) == []

    def test_nobody_approves_their_own(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            asked = post(db, merchant, K.DEBIT, 1001, money_terms=STRICT).approval
        assert asked is not None

        with pytest.raises(WrongState, match="Somebody else"), database.writing() as db:
            approve(a_system_work(db, actor=ANN), asked)

        with database.reading() as db:
            assert len(list_waiting(db, limit=5)) == 1
            assert owed(db, merchant) == 0

    def test_what_is_rejected_is_not_posted(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            asked = post(db, merchant, K.CREDIT, 1001, money_terms=STRICT).approval or 0

            reject(a_system_work(db, actor=ANN), asked)

            assert owed(db, merchant) == 0
            with pytest.raises(WrongState, match="already been approved or rejected"):
                approve(a_system_work(db, actor=BEN), asked)
            with pytest.raises(NotFound, match="Nothing waits"):
                reject(a_system_work(db, actor=BEN), 99)

    def test_a_pay_out_and_a_reversal_are_checked_again(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            post(db, merchant, K.CREDIT, 2000)
            reversal = reverse_entry(
                a_work(db, merchant, actor=ANN, money_terms=STRICT), 1, "a mistake"
            )
            first = post(db, merchant, K.PAYOUT, 1500, money_terms=STRICT)
            second = post(db, merchant, K.PAYOUT, 1500, money_terms=STRICT)

            ben = a_system_work(db, actor=BEN)
            assert approve(ben, first.approval or 0).kind is K.PAYOUT
            with pytest.raises(BadInput, match=r"At most 5\.00 GBP can be paid out"):
                approve(ben, second.approval or 0)
            assert approve(ben, reversal.approval or 0).kind is K.CREDIT_REVERSAL

    def test_a_credit_by_the_old_command_needs_one_too(self, database: Database) -> None:
        with database.writing() as db:
            work = a_work(db, a_merchant(db), actor=ANN, money_terms=STRICT)

            with pytest.raises(WrongState, match="A second person"):
                post_by_hand(work, K.CREDIT, 1001, "sorry")
            assert post_by_hand(work, K.PAYMENT, 1001, "transfer") is not None


def test_a_large_amount_is_typed_again(database: Database) -> None:
    terms = MoneyTerms(confirm_above=1000)
    with database.writing() as db:
        work = a_work(db, a_merchant(db), actor=ANN, money_terms=terms)

        for again in (None, 1000):
            with pytest.raises(BadInput, match="Type the amount again"):
                post_money(work, PostingByHand(kind=K.DEBIT, amount=1001, memo="rent", again=again))

        posted = post_money(work, PostingByHand(kind=K.DEBIT, amount=1001, memo="rent", again=1001))
        assert posted.entry is not None
        with pytest.raises(BadInput, match="Type the amount again"):
            reverse_entry(work, 1, "a mistake")
        assert (
            post_money(work, PostingByHand(kind=K.DEBIT, amount=1000, memo="rent")).entry
            is not None
        )


def test_new_merchants_have_the_usual_credit_limit(database: Database) -> None:
    with database.writing() as db:
        system = a_system_work(db, money_terms=MoneyTerms(default_credit_limit=5000))
        limited = add_merchant(system, "Bob").merchant

        assert read_credit_limit(db, limited.id) == 5000
        assert read_credit_limit(db, a_merchant(db).id) is None
