"""Tells people what happened: collected for a while, so that a storm becomes one mail."""

from collections.abc import Iterable, Sequence

from printworks.actions.mail.writing import NewLetter, write_mail
from printworks.actions.news import write_news
from printworks.actions.work import SystemWork, Work
from printworks.catalogue.services import CARRIER_NAMES
from printworks.rules.jobs import JobKind
from printworks.rules.languages import guess_language
from printworks.rules.mail import (
    NOTICES,
    MailFacts,
    MailKind,
    NoticeFact,
    find_address,
    find_slot,
)
from printworks.rules.payments import is_on_account
from printworks.rules.people import MAY, Duty
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.shops import get_shop
from printworks.store.callbacks.deliveries import Delivery
from printworks.store.engine.rows import group_by
from printworks.store.mail.choices import has_refused, hash_recipient, list_readers
from printworks.store.mail.notices import add_notices, take_notices
from printworks.store.mail.settings import read_mail_settings
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment


def notify(
    work: SystemWork, merchant_id: int | None, kind: MailKind, facts: Sequence[NoticeFact]
) -> None:
    """Let those who want to know be told: people of a merchant, whose bell rings too, or operators.

    There is at most one job for each hour of the clock, or for each day, and so one mail to each
    person: what happens after it, is told in the next.
    """
    if merchant_id is not None:
        write_news(work, merchant_id, kind, facts)
    if work.backing.mail_terms is None or not list_readers(work.db, merchant_id, kind):
        return
    add_notices(work.db, merchant_id, kind, facts)
    args = {"merchant": merchant_id, "kind": kind}
    terms = NOTICES[kind]
    slot, left = find_slot(work.real_now, terms.every)
    # Within this hour or day, however short the rest of it is: the next one has a job of its own.
    for number, wait in enumerate((min(terms.collects, left), left), slot):
        # The job of this hour or day may have run already: then that of the next tells the rest.
        key = f"{JobKind.WRITE_NOTICES}:{kind}:{merchant_id}:{number}"
        if work.enqueue_unowned(JobKind.WRITE_NOTICES, args, wait=wait, dedupe_key=key) is not None:
            return


def write_notices(work: SystemWork, merchant_id: int | None, kind: MailKind) -> int:
    """Write the mails about what happened; return how many. Idempotent: each thing is told once."""
    count, first = take_notices(work.db, merchant_id, kind)
    if not count:
        return 0
    merchant = None if merchant_id is None else get_merchant(work.db, merchant_id)
    is_about_card = (
        kind is MailKind.PAYMENTS_REFUSED
        and merchant is not None
        and not is_on_account(merchant.billing, work.cards)
    )
    readers = list_readers(work.db, merchant_id, kind)
    for person in readers:
        letter = NewLetter(
            kind=kind,
            email=person.email,
            facts=MailFacts(
                shop="" if merchant is None else merchant.name,
                count=count,
                items=first,
                may_change_card=is_about_card and Duty.ACCOUNT in MAY[person.role],
            ),
            merchant_id=merchant_id,
            person_id=person.id,
        )
        write_mail(work, letter)
    return len(readers)


def describe_order(order: Order, **more: object) -> NoticeFact:
    """Return what a mail says about an order."""
    facts: dict[str, object] = {"reference": order.merchant_order_id or "", **more}
    return NoticeFact(order=order.id, **facts)  # type: ignore[arg-type]


def tell_callbacks_failed(work: SystemWork, failed: Iterable[Delivery]) -> None:
    """Tell the people of merchants that callbacks about their orders failed for good."""
    by_merchant = group_by(failed, lambda delivery: delivery.merchant_id)
    # Always in the same order: two transactions that enqueue the same jobs must not deadlock.
    for merchant_id, theirs in sorted(by_merchant.items()):
        facts = [NoticeFact(order=one.order_id or 0, subject=one.id) for one in theirs]
        notify(work, merchant_id, MailKind.CALLBACKS_FAILED, facts)


def tell_shipped(work: Work, order: Order, shipment: Shipment) -> None:
    """Tell the merchant's people, and the recipient if the merchant wants that."""
    if work.backing.mail_terms is None:
        return
    fact = describe_order(
        order,
        subject=shipment.id,
        carrier=CARRIER_NAMES.get(shipment.carrier, ""),
        tracking_number=shipment.tracking_number or "",
        tracking_url=shipment.tracking_url or "",
    )
    notify(work, work.merchant.id, MailKind.SHIPMENTS_SENT, [fact])
    _write_to_recipient(work, order, fact)


def _write_to_recipient(work: Work, order: Order, fact: NoticeFact) -> None:
    chosen = read_mail_settings(work.db, work.merchant.id)
    email = find_address(order.email)
    if not chosen.writes_to_recipients or email is None:
        return
    if has_refused(work.db, hash_recipient(work.merchant.id, email)):
        return
    country = order.destination_country or ""
    letter = NewLetter(
        kind=MailKind.PARCEL_SENT,
        email=email,
        name=order.recipient_name or "",
        language=chosen.recipient_language or guess_language(country),
        facts=MailFacts(
            shop=get_shop(work.db, work.merchant.id).name, country=country, items=[fact]
        ),
        merchant_id=work.merchant.id,
        order_id=order.id,
        cause=f"shipment {fact.subject}",
    )
    write_mail(work, letter)
