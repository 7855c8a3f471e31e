"""Something of everything that a page can be about, so that every page can be opened."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy import select

from printworks.actions.accounts.merchants import add_key
from printworks.actions.catalogue import add_draft, add_version
from printworks.actions.mail.writing import NewLetter, write_mail
from printworks.actions.orders.orders import cancel_order
from printworks.actions.price_lists import ListTerms, add_list
from printworks.actions.privacy.erasing import erase_order
from printworks.catalogue.drafts.beginning import begin_catalogue
from printworks.catalogue.drafts.draft import Draft
from printworks.catalogue.opening import open_catalogue, read_catalogue
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard import console, merchant
from printworks.dashboard.site.router import Page
from printworks.files import open_files
from printworks.rules.keys import KeyAccess, KeyLimits
from printworks.rules.mail import MailFacts, MailKind, MailTerms, NoticeFact
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.accounts.requests import NewRequest, list_requests, write_requests
from printworks.store.callbacks.settings import (
    CallbackCandidate,
    read_callback_settings,
    write_callback_settings,
)
from printworks.store.engine.database import Database
from printworks.store.issues.photos import NewPhoto, insert_photos
from printworks.store.mail.mails import MailSearch, search_mails
from printworks.store.money.invoices import NewInvoice, insert_invoice, take_number
from printworks.store.money.reminders import add_reminder, set_reminders_paused
from printworks.store.tables import images, jobs
from tests.actions.complaints import a_draft
from tests.dashboard.hostile import HOSTILE
from tests.dashboard.scenes import complain_about, hand_in
from tests.dashboard.telling import last_callback, listen
from tests.dashboard.windows import Window, merchant_of
from tests.factories import NOON, a_new_reminder, a_system_work, a_work, a_work_of, an_order
from tests.invoices import documents
from tests.worker.lots import a_file, send_file
from tests.worker.shops import A_PICTURE

AnyPage = Page[Any]
PAGES: Final[dict[Realm, Sequence[AnyPage]]] = {
    Realm.MERCHANT: merchant.PAGES,
    Realm.OPERATOR: console.PAGES,
}
# What stands in a path for something that there is.
_PARAMETER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class World:
    """Where each page is that is about something of Alice's, or of the operator's."""

    # By the beginning of a page's path: what its parameters stand for.
    things: dict[str, dict[str, object]]

    def address_of(self, page: AnyPage, **instead: object) -> str:
        """Return where a page is; `instead` names other things than those that there are."""
        fitting = [start for start in self.things if page.path.startswith(start)]
        known = {**self.things.get(max(fitting, key=len, default=""), {}), **instead}
        return _PARAMETER.sub(lambda found: str(known[found[1]]), page.path)


def _let_keys_and_addresses_wait(database: Database, alice: Window) -> None:
    """Let Alice have a key with limits, and a callback address that is not used yet."""
    with database.writing() as db:
        work = a_work(db, merchant_of(db, alice))
        limits = KeyLimits(HOSTILE[0][:80], KeyAccess.READ_ONLY, work.catalogue.labs[0].code)
        add_key(work, limits, valid_for=timedelta(days=30))
        known = read_callback_settings(db, work.merchant.id)
        waits = CallbackCandidate(f"https://shop.example/{HOSTILE[0]}", NOON, 5, HOSTILE[0], True)
        settings = msgspec.structs.replace(known, candidate=waits)
        write_callback_settings(db, work.merchant.id, settings)


def _remind(database: Database, alice: Window) -> None:
    """Let Alice have been reminded of something overdue, until somebody paused that."""
    with database.writing() as db:
        merchant_id = merchant_of(db, alice).id
        set_reminders_paused(db, merchant_id, HOSTILE[0])
        add_reminder(db, a_new_reminder(merchant_id))


def _write_to(database: Database, alice: Window) -> int:
    """Let Alice be written to; return the number of the mail."""
    assert alice.person is not None
    with database.writing() as db:
        items = [NoticeFact(order=1, reference=HOSTILE[0], text=HOSTILE[0])]
        letter = NewLetter(
            kind=MailKind.IMAGES_FAILED,
            email=alice.person.email,
            facts=MailFacts(shop=HOSTILE[0], items=items),
            merchant_id=alice.person.merchant_id,
            person_id=alice.person.id,
        )
        assert write_mail(
            a_system_work(db, mail_terms=MailTerms("Fox", "https://x.example")), letter
        )
        return search_mails(db, MailSearch(), limit=1).mails[0].id


def a_small_draft() -> dict[str, str]:
    """Return the files of a draft with one product, for which there is no lab yet."""
    draft = Draft(begin_catalogue([Currency.EUR, Currency.GBP]))
    draft.set_line("groups", HOSTILE[0], ["DE"])
    mug = {
        "sku": "MUG",
        "description": HOSTILE[0],
        "kind": "mug",
        "band": "Parcels",
        "image": "8x3",
        "sold_to": [HOSTILE[0]],
        "price": {"EUR": 900, "GBP": 800},
    }
    draft.add_block("products", mug)
    return draft.texts


@cache
def another_catalogue() -> Catalogue:
    """Return a catalogue that differs from the built-in one."""
    texts = dict(open_catalogue(None).texts)
    texts["prints.toml"] = texts["prints.toml"].replace("GBP = 18,", "GBP = 28,")
    return read_catalogue(texts)


def _refuse_request(database: Database, alice: Window) -> int:
    """Let a request of Alice's have been refused; return its number."""
    with database.writing() as db:
        merchant = merchant_of(db, alice)
        noted = NewRequest(
            merchant_id=merchant.id,
            at=NOON,
            method="POST",
            path=f"/v3.0/{HOSTILE[0][:80]}",
            status=400,
            milliseconds=3,
            request_id="r",
            refusal=HOSTILE[0],
            body=HOSTILE[0],
            answer=HOSTILE[0],
        )
        write_requests(db, [noted])
        return list_requests(db, merchant.id, limit=1).requests[0].id


def _send_file(database: Database, alice: Window) -> int:
    """Let Alice have a file of orders, one of them wrong; return its number."""
    rows = [
        {"reference": HOSTILE[0][:80], "recipient_name": HOSTILE[0][:80]},
        {"reference": "wrong", "sku": HOSTILE[0][:80]},
    ]
    with database.reading() as db:
        merchant = merchant_of(db, alice)
    return send_file(database, merchant, a_file(*rows))


def _invoice(database: Database, alice: Window) -> dict[str, object]:
    """Let Alice have an invoice of nothing, which no ledger has to know; return where it is."""
    bought = msgspec.structs.replace(documents.BUYER, name=HOSTILE[0])
    free = documents.line(0, description=HOSTILE[0])
    with database.writing() as db:
        taken = take_number(db, "", NOON.year)
        document = documents.invoice(
            year=NOON.year, sequence=taken.sequence, buyer=bought, lines=(free,)
        )
        merchant = merchant_of(db, alice)
        new = NewInvoice(merchant_id=merchant.id, document=document, head=taken.head)
        insert_invoice(db, new, now=NOON)
    return {"number": document.number, "form": "csv"}


def make_world(
    database: Database, settings: Settings, folder: Path, alice: Window, operator: Window
) -> World:
    """Let Alice have an order, a job at a lab, an issue with a photograph, and callbacks."""
    listen(database, alice)
    with database.writing() as db:
        draft = a_draft(db, merchant_of(db, alice))
    _let_keys_and_addresses_wait(database, alice)
    _remind(database, alice)
    mail = _write_to(database, alice)
    order, shipment = hand_in(database, alice)
    issue = complain_about(database, alice)
    photograph = folder / "photograph.jpg"
    photograph.write_bytes(A_PICTURE)
    for key in ("photographs/1.jpg", "originals/0"):
        open_files(settings).put(key, photograph)
    with database.writing() as db:
        insert_photos(db, issue, [NewPhoto("photographs/1.jpg", 600, 900)], now=NOON)
        image, own_image = (
            db.execute(select(images.c.id).where(images.c.order_id == one.id)).scalars().first()
            for one in (order, draft)
        )
        job = db.execute(select(jobs.c.id)).scalars().first()
        ended = an_order(db, merchant_of(db, alice))
        cancel_order(a_work_of(db, ended), ended)
        receipt = erase_order(a_system_work(db), ended.id, asked_by="the recipient").id
        version = add_version(a_system_work(db), another_catalogue(), HOSTILE[0]).id
        unfinished = add_draft(a_system_work(db), a_small_draft(), HOSTILE[0]).id
        price_list = add_list(a_system_work(db), ListTerms(name="Schools")).id
    assert operator.person is not None
    lot = _send_file(database, alice)
    invoice = _invoice(database, alice)
    about_issue: dict[str, object] = {"id": issue.id, "photo": 1}
    return World(
        {
            "/orders/": {"id": draft.id, "image": own_image},
            "/orders/lots/": {"id": lot},
            "/invoices/": invoice,
            "/console/invoices/": invoice,
            "/requests/": {"id": _refuse_request(database, alice)},
            "/orders/{id}/proofs/": {"id": order.id, "image": image},
            "/issues/": about_issue,
            "/integrations/callbacks/": {"id": last_callback(database, alice)},
            "/console/orders/": {"id": order.id, "image": image},
            "/console/shipments/": {"id": shipment.id, "image": image},
            "/console/issues/": about_issue,
            "/console/merchants/": {"code": alice.code},
            "/console/catalogue/": {"sku": "GLOBAL-PHO-4X6-PRO"},
            "/console/versions/": {"id": version},
            "/console/versions/{id}/edit": {"id": unfinished, "part": "products", "name": "MUG"},
            "/console/prices/": {"id": price_list},
            "/console/labs/": {"code": shipment.lab},
            "/console/jobs/": {"id": job},
            "/console/privacy/": {"id": receipt},
            "/console/people/": {"id": operator.person.id},
            "/catalogue/": {"sku": "GLOBAL-PHO-4X6-PRO"},
            "/mail/": {"id": mail},
            "/console/mail/": {"id": mail},
        }
    )
