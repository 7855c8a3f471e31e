"""`printworks privacy`: find a person, erase and export what is known, and read receipts."""

import os
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from printworks.actions.privacy.erasing import erase_order
from printworks.actions.privacy.exporting import MOST_ORDERS, export_orders, write_archive
from printworks.cli.options import Limit, OnlyMerchant
from printworks.cli.output import Columns, align, note, pick
from printworks.cli.session import CommandSession, command
from printworks.errors import BadInput, ServiceError
from printworks.rules.privacy import DESCRIPTIONS, KEPT, Subject
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.accounts.privacy.erasures import Erasure, get_erasure, list_erasures
from printworks.store.views.console.orders import AnyOrder
from printworks.store.views.console.search import PersonSearch, find_orders_of_person

app = typer.Typer(no_args_is_help=True)

Orders = Annotated[
    list[int] | None, typer.Argument(metavar="[ORDER]...", help="The numbers of orders.")
]
Email = Annotated[str, typer.Option(help="All orders with this email address.")]
Name = Annotated[str, typer.Option(help="All orders to this name; with --postcode.")]
Postcode = Annotated[str, typer.Option(help="All orders to this postcode; with --name.")]

_COLUMNS: Final[Columns] = {
    "order": "id",
    "merchant": "merchantCode",
    "reference": "merchantOrderId",
    "recipient": "recipientName",
    "country": "destinationCountry",
    "status": "status",
    "created": "createdAt",
}


@command(app, "find")
def find(
    session: CommandSession,
    *,
    email: Email = "",
    name: Name = "",
    postcode: Postcode = "",
    merchant: OnlyMerchant = None,
    limit: Limit = MOST_ORDERS,
) -> None:
    """List the orders of a person: by email address, or by name and postcode."""
    person = _read_person(
        session, PersonSearch(email=email, name=name, postcode=postcode), merchant
    )
    with session.reading() as db:
        found = find_orders_of_person(db, person, limit=limit)
    rows = [_describe_order(order) for order in found.orders]
    session.show_list(rows, _COLUMNS, "No order of this person was found.")
    if found.is_cut:
        note(f"There are more than {len(rows)}; --limit shows more, --merchant narrows it down.")


@command(app, "erase")
def erase(
    session: CommandSession,
    orders: Orders = None,
    *,
    asked_by: Annotated[
        str, typer.Option(help="Who asked for it, for the receipt; it names no recipient.")
    ],
    email: Email = "",
    name: Name = "",
    postcode: Postcode = "",
    merchant: OnlyMerchant = None,
    when_ended: Annotated[
        bool, typer.Option(help="Erase orders that are still needed when they have ended.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Erase the recipients of orders for good; exit with 1 if one was refused.

    The orders are given by number, or are all those of a person.
    """
    person = PersonSearch(email=email, name=name, postcode=postcode)
    chosen = _choose(session, orders or [], person, merchant)
    if not yes:
        _confirm(session, chosen)
    results = [_erase_one(session, order, asked_by, when_ended=when_ended) for order in chosen]
    columns: Columns = {"order": "orderId", "receipt": "receipt", "outcome": "outcome"}
    session.show_list(results, columns, "No order was erased.")
    if not all(result["ok"] for result in results):
        raise typer.Exit(1)


def _confirm(session: CommandSession, chosen: list[int]) -> None:
    if session.is_json:
        raise BadInput(
            "Add --yes: what is erased cannot be restored, and a program cannot be asked."
        )
    numbers = ", ".join(map(str, chosen))
    typer.confirm(f"Erase the recipient of {numbers}? This cannot be undone.", abort=True)


def _erase_one(
    session: CommandSession, order_id: int, asked_by: str, *, when_ended: bool
) -> dict[str, Any]:
    try:
        with session.system_work() as system:
            erasure = erase_order(system, order_id, asked_by=asked_by, when_ended=when_ended)
    except ServiceError as refusal:
        return {"ok": False, "orderId": order_id, "receipt": None, "outcome": refusal.message}
    return {"ok": True, "orderId": order_id, "receipt": erasure.id, "outcome": erasure.state}


@command(app, "export")
def export(
    session: CommandSession,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The ZIP to write.")],
    orders: Orders = None,
    *,
    email: Email = "",
    name: Name = "",
    postcode: Postcode = "",
    merchant: OnlyMerchant = None,
) -> None:
    """Write what is known of a person into a ZIP: a JSON document and pictures."""
    person = PersonSearch(email=email, name=name, postcode=postcode)
    chosen = _choose(session, orders or [], person, merchant)
    if target.exists():
        raise BadInput(f"{target} exists already; name another file.")
    with session.system_work() as system:
        collected = export_orders(system, chosen)
    # Nobody else may read it.
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        for piece in write_archive(session.services.files, collected):
            file.write(piece)
    session.done(
        f"{target} has what is known of the recipient of {len(chosen)} orders.",
        file=str(target),
        orders=chosen,
    )


@command(app, "receipts")
def receipts(
    session: CommandSession,
    receipt: Annotated[
        int | None, typer.Argument(metavar="[RECEIPT]", help="Show this one completely.")
    ] = None,
    *,
    order: Annotated[int | None, typer.Option(help="Only of this order.")] = None,
    limit: Limit = 50,
) -> None:
    """List what was erased, newest first, or show one receipt."""
    with session.reading() as db:
        if receipt is not None:
            found = get_erasure(db, receipt)
            session.show(_describe(found), *_write(found))
            return
        listed = list_erasures(db, order_id=order, limit=limit + 1)
    columns: Columns = {
        "receipt": "id",
        "order": "orderId",
        "state": "state",
        "asked by": "askedBy",
        "done by": "doneBy",
        "asked": "createdAt",
        "erased": "erasedAt",
        "finished": "finishedAt",
    }
    rows = [_describe(one) for one in listed]
    session.show_list(rows, columns, "Nothing has been erased.", limit=limit)


def _choose(
    session: CommandSession, orders: list[int], person: PersonSearch, merchant: str | None
) -> list[int]:
    """Return the orders that were named, or all those of a person."""
    if bool(orders) == bool(person.email or person.name or person.postcode):
        raise BadInput("Give the numbers of orders, or an email address, or a name and a postcode.")
    if orders:
        return list(dict.fromkeys(orders))
    person = _read_person(session, person, merchant)
    with session.reading() as db:
        found = find_orders_of_person(db, person, limit=MOST_ORDERS)
    if not found.orders:
        raise BadInput("No order of this person was found.")
    if found.is_cut:
        raise BadInput(
            f"The person has more than {MOST_ORDERS} orders, or the name is too common: name a "
            "merchant, or give the numbers of the orders."
        )
    return [order.id for order in found.orders]


def _read_person(
    session: CommandSession, person: PersonSearch, merchant: str | None
) -> PersonSearch:
    if not person.email and not (person.name and person.postcode):
        raise BadInput("Give an email address, or a name and a postcode.")
    merchant_id = None
    if merchant is not None:
        with session.reading() as db:
            merchant_id = get_merchant_by_code(db, merchant).id
    return PersonSearch(
        email=person.email, name=person.name, postcode=person.postcode, merchant_id=merchant_id
    )


def _describe_order(order: AnyOrder) -> dict[str, Any]:
    return pick(
        order,
        *("id", "merchant_code", "merchant_order_id", "recipient_name", "destination_country"),
        *("status", "created_at"),
    )


def _describe(erasure: Erasure) -> dict[str, Any]:
    return pick(erasure, *Erasure.__struct_fields__)


def _write(erasure: Erasure) -> list[str]:
    facts = pick(
        erasure,
        *("id", "order_id", "state", "asked_by", "done_by"),
        *("created_at", "erased_at", "finished_at"),
    )
    removed = [
        f"  {DESCRIPTIONS[Subject(subject)]}: {count}"
        for subject, count in (erasure.removed or {}).items()
        if count
    ]
    left = [f"  {sentence}" for sentence in erasure.left_elsewhere or ()]
    return [
        *align(facts),
        *(["\nRemoved:", *removed] if removed else []),
        *(["\nTo be deleted elsewhere, by you:", *left] if left else []),
        "\nKept:",
        *(f"  {sentence}" for sentence in KEPT),
    ]
