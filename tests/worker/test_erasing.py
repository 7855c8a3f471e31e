"""A recipient is forgotten everywhere: in tables, files and the folders of labs."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from sqlalchemy import Connection, insert, select
from structlog.typing import EventDict

from printworks.actions.issues.issues import answer_issue, dismiss_issue, open_issue
from printworks.actions.issues.photos import add_photos
from printworks.actions.issues.reprints import plan_reprint
from printworks.actions.privacy.erasing import erase_order, erase_waiting
from printworks.actions.privacy.exporting import export_orders
from printworks.actions.production.holds import hold_order, release_order
from printworks.actions.production.lab_reports import report_for_lab
from printworks.actions.work import Actor, SystemWork
from printworks.catalogue.products import Currency
from printworks.errors import WrongState
from printworks.labs.connector import LabUnavailable
from printworks.labs.documents import LabReport
from printworks.labs.folder import FolderLab
from printworks.rules.issues import IssueAction, IssueKind
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.languages import Language
from printworks.rules.mail import MailFacts, MailKind, MailState, NoticeFact
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Payer, PaymentState
from printworks.rules.people import Realm
from printworks.rules.privacy import ErasureState, Subject
from printworks.rules.production import LabState
from printworks.store.accounts.privacy.erasures import Erasure, get_erasure, list_erasures
from printworks.store.accounts.privacy.sweeps import list_sweeps
from printworks.store.issues.issues import NewIssue, list_issues
from printworks.store.mail.mails import NewMail, get_mail, insert_mail
from printworks.store.mail.notices import add_notices, take_notices
from printworks.store.money.payments import (
    NewPayment,
    SavedCard,
    get_request,
    insert_request,
    update_request,
)
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.store.orders.shipments import list_shipments
from printworks.store.tables import (
    api_requests,
    callback_attempts,
    callbacks,
    idempotency_keys,
    mails,
    metadata,
)
from printworks.store.tables.transfer.named_files import list_named_files
from tests.factories import a_system_work, a_work
from tests.worker.catalogues import change_labs
from tests.worker.conftest import OpenShop
from tests.worker.hosts import holds
from tests.worker.lots import a_file, send_file
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, Shop
from tests.worker.test_issue_photos import draw
from tests.worker.test_packing_slips import A_SLIP

pytestmark = pytest.mark.slow

SHOP_HOURLY = HOURLY

CANARY: Final = "Canary"
WHO: Final = Actor(Realm.OPERATOR, "olga@example.com")
PERSON: Final = {
    "recipient_name": f"Mary {CANARY}",
    "address1": f"1 {CANARY} Street",
    "address2": f"{CANARY} House",
    "town_or_city": f"{CANARY}ville",
    "state_or_county": f"{CANARY}shire",
    "postal_code": f"YO1 {CANARY}",
    "mobile_telephone": f"1 {CANARY}",
    "telephone": f"2 {CANARY}",
    "email": f"mary@{CANARY}.example",
    "merchant_order_id": "A-7",
}


@pytest.fixture
def with_folders(a_shop: OpenShop, tmp_path: Path) -> Shop:
    """A shop whose labs have hot folders."""
    catalogue = change_labs(tmp_path, every='connector = "folder"')
    (tmp_path / "labs").mkdir()
    return a_shop(catalogue=str(catalogue), lab_folder=str(tmp_path / "labs"))


@contextmanager
def operating(shop: Shop) -> Iterator[SystemWork]:
    """Work as an operator does."""
    catalogue = shop.resources.catalogue
    with shop.database.writing() as db:
        yield a_system_work(db, now=shop.clock(), catalogue=catalogue, actor=WHO)


def order_one(shop: Shop, content: bytes = A_PICTURE, **values: Any) -> Order:
    """Submit an order that is full of the canary, and let it be printed and sent to its lab."""
    slip = shop.host.at(f"/{CANARY}.png", holds(A_SLIP))
    order = shop.add_order(**{**PERSON, "packing_slip_url": slip, **values})
    shop.add_images(order, shop.host.at(f"/{CANARY}.jpg", holds(content)))
    with operating(shop) as system:
        hold_order(*system.lock_order(order.id), reason=f"{CANARY} moved")
        release_order(*system.lock_order(order.id))
    shop.submit(order)
    shop.drain()
    return order


def complain(shop: Shop, order: Order) -> int:
    """Open an issue about it, with a photograph and a comment."""
    batch, drawn = draw(shop, ANOTHER_PICTURE)
    new = NewIssue(
        kind=IssueKind.PRINT_DEFECTS,
        action=IssueAction.REFUND,
        detail=f"{CANARY} is not pleased",
        action_detail=f"call {CANARY}",
    )
    with operating(shop) as system:
        work, current = system.lock_order(order.id)
        issue = open_issue(work, current, new)
        add_photos(system, issue, batch, drawn)
        answer_issue(system, issue.id, f"Dear {CANARY}")
    return issue.id


def answer_about(shop: Shop, order: Order) -> None:
    """Remember what receivers and repeated requests are told of it."""
    with shop.database.writing() as db:
        numbers = select(callbacks.c.id).where(callbacks.c.order_id == order.id)
        for number in db.execute(numbers).scalars().all():
            attempt = {"callback_id": number, "number": 90, "at": shop.clock(), "status": 500}
            told = {"url": "https://shop.example", "milliseconds": 1, "answer": f"No {CANARY}"}
            db.execute(insert(callback_attempts).values(**attempt, **told))
        refused = {"merchant_id": order.merchant_id, "method": "PUT", "path": "/", "status": 400}
        timed = {"at": shop.clock(), "milliseconds": 1, "request_id": "r", "order_id": order.id}
        db.execute(insert(api_requests).values(**refused, **timed, refusal=f"No {CANARY}"))
        known = {"recipientName": CANARY, "images": [{"url": CANARY, "copies": 2}]}
        body = msgspec.json.encode({"data": {"id": order.id, **known}})
        xml = b"<response><recipientName>Canary</recipientName></response>"
        for media_type, stored in (("application/json", body), ("application/xml", xml)):
            db.execute(
                insert(idempotency_keys).values(
                    merchant_id=order.merchant_id,
                    key=media_type,
                    fingerprint="",
                    claimed_until=shop.clock(),
                    claim="",
                    answer_status=200,
                    answer_media_type=media_type,
                    answer_body=stored,
                    order_id=order.id,
                    created_at=shop.clock(),
                )
            )


def dispatch(shop: Shop, order: Order) -> None:
    """Report that it is on its way."""
    with operating(shop) as system:
        for shipment in list_shipments(system.db, order.id):
            sent = LabReport(
                job=shipment.id,
                state=LabState.DISPATCHED,
                tracking_number=f"{CANARY}1",
                tracking_url=f"https://post.example/{CANARY}",
            )
            report_for_lab(system, sent)
    shop.drain()


def erase(shop: Shop, order: Order, **how: Any) -> Erasure:
    with operating(shop) as system:
        return erase_order(system, order.id, asked_by="the recipient, by letter", **how)


def receipt(shop: Shop, erasure: Erasure) -> Erasure:
    with shop.database.reading() as db:
        return get_erasure(db, erasure.id)


def find_canaries(db: Connection) -> list[str]:
    """Return where any table still has the canary."""
    return [
        f"{table.name}: {row}"
        for table in metadata.sorted_tables
        for row in db.execute(select(table))
        if CANARY.lower() in str(tuple(row)).lower()
    ]


def find_left(shop: Shop) -> list[str]:
    with shop.database.reading() as db:
        return find_canaries(db)


def test_nothing_is_left_in_tables_files_and_folders(
    with_folders: Shop, logged: list[EventDict]
) -> None:
    shop = with_folders
    order = order_one(shop)
    dispatch(shop, order)
    issue = complain(shop, order)
    with operating(shop) as system:
        dismiss_issue(system, issue, comment=f"Sorry, {CANARY}")
    answer_about(shop, order)
    with shop.database.reading() as db:
        [shipment] = list_shipments(db, order.id)
    lab = Path(str(shop.settings.lab_folder), shipment.lab)
    names = [f"archive/{shipment.id}", f"archive/{shipment.id}-2", f"done/{shipment.id} - Copy"]
    for name in names:
        (lab / name).mkdir()
        (lab / name / "job.json").write_text(CANARY)
    (lab / f"archive/{shipment.id}1").mkdir()
    assert len(find_left(shop)) > 10
    assert shop.list_files() != []
    write_to(shop, order)
    # The row was wrong at first, and the order made from a corrected copy of the file.
    bad = {"reference": "A-7", "recipient_name": f"Mary {CANARY}", "country": "Atlantis"}
    send_file(shop.database, shop.merchant, a_file(bad))
    before = shop.order(order)

    erasure = erase(shop, order)
    assert (erasure.state, find_left(shop)) == (ErasureState.ERASING, [])
    shop.drain()

    done = receipt(shop, erasure)
    assert shop.list_files() == []
    assert sorted(path.name for path in lab.glob("*/[0-9]*")) == [f"{shipment.id}1"]
    assert done.state is ErasureState.DONE
    assert (done.asked_by, done.done_by) == ("the recipient, by letter", "olga@example.com")
    assert done.left_elsewhere == []
    with shop.database.reading() as db:
        # A backup does not look for what was erased.
        assert list(list_named_files(db)) == []
    removed = done.removed or {}
    assert set(removed) == {subject.value for subject in Subject}
    assert all(removed[each] > 0 for each in set(removed) - {Subject.PAYMENTS}), removed
    assert removed[Subject.LAB_COPIES] == 3
    after = shop.order(order)
    assert (after.status, after.price, after.destination_country) == (
        OrderStatus.COMPLETE,
        before.price,
        "GB",
    )
    assert after.merchant_order_id == "A-7"
    assert after.version > before.version
    assert after.updated_at == before.updated_at
    assert CANARY not in str([line for line in logged if line["event"] == "recipient erased"])


def test_a_picture_of_another_order_and_a_mail_about_it_stay(shop: Shop) -> None:
    first, second = order_one(shop), order_one(shop)
    write_to(shop, first)
    write_to(shop, second)
    shop.pass_time(hours=2)
    assert shop.order(first).status is OrderStatus.COMPLETE

    erase(shop, first)
    shop.drain()

    picture = shop.picture(A_PICTURE)
    assert picture is not None
    assert picture.original in shop.list_files()
    with shop.database.reading() as db:
        assert db.execute(select(mails.c.order_id)).scalars().all() == [second.id]
    erase(shop, second)
    shop.drain()
    assert shop.picture(A_PICTURE) is None
    assert shop.list_files() == []
    with shop.database.reading() as db:
        assert shop._current(None).file_bytes == 0
        assert find_canaries(db) == []


def write_to(shop: Shop, order: Order) -> None:
    """Have a mail to the recipient wait."""
    letter = {
        "message_id": f"{order.id}@print.example",
        "kind": MailKind.PARCEL_SENT,
        "state": MailState.WAITING,
        "email": PERSON["email"],
        "name": PERSON["recipient_name"],
        "language": Language.EN,
        "facts": {},
        "order_id": order.id,
        "created_at": shop.clock(),
        "send_before": shop.clock() + timedelta(days=1),
    }
    with shop.database.writing() as db:
        db.execute(insert(mails).values(letter))


def test_mails_to_others_no_longer_tell_of_the_parcel_and_the_pictures(shop: Shop) -> None:
    order, other = order_one(shop), order_one(shop)
    shop.pass_time(hours=2)
    told: dict[str, Any] = {
        "text": f"{CANARY}.jpg: torn",
        "tracking_number": CANARY,
        "tracking_url": CANARY,
    }
    facts = [NoticeFact(order=one.id, reference="A-7", **told) for one in (order, other)]
    items = MailFacts(shop="Alice", count=2, items=facts)
    letter = NewMail(
        message_id="m@print.example",
        kind=MailKind.IMAGES_FAILED,
        email="staff@shop.example",
        name="",
        language=Language.EN,
        facts=items,
        send_before=shop.clock() + timedelta(days=1),
        merchant_id=shop.merchant.id,
    )
    # Another number that begins alike.
    longer = NoticeFact(order=int(f"{order.id}0"), **told)
    with shop.database.writing() as db:
        number = insert_mail(db, letter, now=shop.clock())
        add_notices(db, None, MailKind.IMAGES_FAILED, [facts[0], longer])

    erase(shop, order)

    blank = NoticeFact(order=order.id, reference="A-7")
    with shop.database.writing() as db:
        assert get_mail(db, number or 0).facts.items == [blank, facts[1]]
        assert take_notices(db, None, MailKind.IMAGES_FAILED)[1] == [blank, longer]


def test_it_may_be_erased_again(shop: Shop) -> None:
    order = order_one(shop)
    shop.pass_time(hours=2)
    first = erase(shop, order)
    with pytest.raises(WrongState, match=f"erased already: see receipt {first.id}"):
        erase(shop, order)
    shop.drain()

    second = erase(shop, order)
    shop.drain()

    assert sum((receipt(shop, second).removed or {"": 1}).values()) == 1
    with shop.database.reading() as db:
        assert [one.id for one in list_erasures(db, order_id=order.id, limit=9)] == [
            second.id,
            first.id,
        ]


def test_what_is_in_production_is_erased_when_it_has_ended(shop: Shop) -> None:
    order = order_one(shop)
    issue = complain(shop, order)
    with pytest.raises(WrongState, match="its recipient is needed until it is Complete"):
        erase(shop, order)

    erasure = erase(shop, order, when_ended=True)
    with pytest.raises(WrongState, match="erased already"):
        erase(shop, order, when_ended=True)
    shop.pass_time(hours=2)

    # It is complete, but the issue may need a reprint.
    assert shop.order(order).status is OrderStatus.COMPLETE
    with pytest.raises(WrongState, match="erased already"):
        erase(shop, order)
    with operating(shop) as system:
        assert erase_waiting(system, limit=9) == 0
    assert receipt(shop, erasure).state is ErasureState.WAITING
    with operating(shop) as system:
        dismiss_issue(system, issue, comment="No.")
    shop.pass_time(hours=1)
    assert receipt(shop, erasure).state is ErasureState.DONE
    assert find_left(shop) == []


def test_those_that_wait_are_erased_a_few_at_a_time(shop: Shop) -> None:
    orders = [order_one(shop) for _ in range(2)]
    for order in orders:
        erase(shop, order, when_ended=True)
        shop.move(order, OrderStatus.COMPLETE)

    erased = []
    for _ in range(3):
        with operating(shop) as system:
            erased.append(erase_waiting(system, limit=1))

    assert erased == [1, 1, 0]


def test_an_order_that_ended_meanwhile_is_erased_at_once(shop: Shop) -> None:
    order = order_one(shop)
    waiting = erase(shop, order, when_ended=True)
    shop.move(order, OrderStatus.COMPLETE)

    now = erase(shop, order)

    assert (now.id, now.state) == (waiting.id, ErasureState.ERASING)


def test_an_unsettled_issue_stands_in_the_way(shop: Shop) -> None:
    order = order_one(shop)
    shop.pass_time(hours=2)
    issue = complain(shop, order)

    with pytest.raises(WrongState, match=f"Issue {issue} of the order is not settled"):
        erase(shop, order)

    with shop.database.reading() as db:
        assert list_issues(db, shop.merchant.id, order.id)[0].detail is not None
        assert list_erasures(db, limit=9) == []


def test_a_lab_that_is_away_is_asked_again(
    with_folders: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = with_folders
    order = order_one(shop)
    dispatch(shop, order)
    erasure = erase(shop, order)

    def be_away(_: FolderLab, job: int) -> int:
        raise LabUnavailable(f"The disk with {job} is not mounted.")

    with monkeypatch.context() as away:
        away.setattr(FolderLab, "erase", be_away)
        shop.drain()
        assert receipt(shop, erasure).state is ErasureState.ERASING
        assert "is not mounted" in shop.job(JobKind.ERASE_FILES).last_error
    shop.pass_time(minutes=2)

    assert receipt(shop, erasure).state is ErasureState.DONE
    # Whoever runs it again changes nothing.
    done = receipt(shop, erasure)
    shop.enqueue_again(JobKind.ERASE_FILES, shop.job(JobKind.ERASE_FILES).args)
    shop.pass_time(minutes=1)
    assert receipt(shop, erasure) == done


def test_a_lab_that_has_left_is_named_on_the_receipt(shop: Shop) -> None:
    order = order_one(shop)
    shop.pass_time(hours=2)
    erasure = erase(shop, order)
    args = shop.job(JobKind.ERASE_FILES).args
    gone = {**args, "labs": [{"lab": "gone", "job": 7}, {"lab": "gone", "job": 8}]}
    with shop.database.writing() as db:
        [job] = shop.jobs(JobKind.ERASE_FILES)
        table = metadata.tables["jobs"]
        db.execute(table.update().where(table.c.id == job.id).values(args=gone))

    shop.drain()

    assert receipt(shop, erasure).left_elsewhere == [
        "Lab gone is no longer in the catalogue: delete its jobs 7, 8 by hand."
    ]


def test_what_a_merchant_changes_in_between_is_locked(shop: Shop) -> None:
    order = order_one(shop)
    shop.pass_time(hours=2)
    erase(shop, order)
    with shop.database.writing() as db:
        current = get_order_to_change(db, shop.merchant.id, order.id)
        work = a_work(db, shop.merchant, now=shop.clock())
        again = open_issue(
            work, current, NewIssue(kind=IssueKind.LOST_IN_POST, action=IssueAction.REPRINT)
        )

    with (
        pytest.raises(WrongState, match="recipient of the order was erased"),
        operating(shop) as system,
    ):
        plan_reprint(system, again.id)


class TestOldRecipients:
    def test_they_are_erased_after_some_time(self, a_shop: OpenShop) -> None:
        shop = a_shop(keep_recipients="30d", keep_proofs="60d")
        order = order_one(shop)
        shop.pass_time(hours=2)
        issue = complain(shop, order)
        answer_about(shop, order)

        shop.pass_time(days=31)
        # Somebody may still want it printed again.
        assert shop.order(order).recipient_name is not None
        with operating(shop) as system:
            dismiss_issue(system, issue, comment="No.")
        shop.pass_time(hours=1)

        after = shop.order(order)
        assert (after.recipient_name, after.postal_code, after.status) == (
            None,
            None,
            OrderStatus.COMPLETE,
        )
        kinds = {key.split("/")[0] for key in shop.list_files()}
        assert {"originals", "prints", "proofs"} <= kinds
        # Pictures have a time of their own: until then their addresses are known.
        assert {left.split(":")[0] for left in find_left(shop)} == {"images"}

        shop.pass_time(days=30)
        assert "proofs" not in {key.split("/")[0] for key in shop.list_files()}
        assert shop.order(order).version > after.version

    def test_by_default_they_stay(self, shop: Shop) -> None:
        order = order_one(shop)
        shop.pass_time(hours=2)

        shop.pass_time(days=5000)

        assert shop.order(order).recipient_name == f"Mary {CANARY}"
        assert {key.split("/")[0] for key in shop.list_files()} == {"proofs"}

    def test_what_a_sweep_removed_is_known(self, a_shop: OpenShop) -> None:
        shop = a_shop(keep_recipients="30d")
        for _ in range(2):
            order_one(shop)
        shop.pass_time(hours=2)
        shop.pass_time(days=31)
        swept_at = shop.clock()
        shop.pass_time(hours=1)

        with shop.database.reading() as db:
            swept = list_sweeps(db)[JobKind.ERASE_OLD_RECIPIENTS]

        assert (swept.removed, swept.total) == (0, 2)
        assert swept.swept_at == swept_at + timedelta(hours=1)


def test_a_payment_keeps_its_amount_and_says_where_else_to_ask(shop: Shop) -> None:
    order = order_one(shop)
    shop.pass_time(hours=2)
    paid = NewPayment(
        merchant_id=order.merchant_id,
        order_id=order.id,
        key="unguessable",
        payer=Payer.RECIPIENT,
        provider="stripe",
        amount=1250,
        currency=Currency.GBP,
        card=SavedCard(CANARY, CANARY),
        expires_at=shop.clock(),
    )
    with shop.database.writing() as db:
        payment = insert_request(db, paid, now=shop.clock())
        page = {"url": f"https://pay.example/{CANARY}", "reason": f"{CANARY} has no money"}
        update_request(db, payment, {**page, "reference": "pi_1"})
    for state in (PaymentState.ASKED, PaymentState.REFUND_REJECTED):
        with shop.database.writing() as db:
            update_request(db, payment, {"state": state})
        with pytest.raises(WrongState, match="A payment of the order has no outcome yet"):
            erase(shop, order)
    with shop.database.writing() as db:
        update_request(db, payment, {"state": PaymentState.REPAID})
    with operating(shop) as system:
        [told] = export_orders(system, [order.id]).document["orders"]
    assert [one["reference"] for one in told["payments"]] == ["pi_1"]

    erasure = erase(shop, order)

    with shop.database.reading() as db:
        kept = get_request(db, payment.id)
    assert (kept.amount, kept.reference, kept.customer, kept.url) == (1250, "pi_1", "", None)
    assert erasure.left_elsewhere == [
        "Payment provider stripe: the payment with the reference pi_1."
    ]
    assert find_left(shop) == []
