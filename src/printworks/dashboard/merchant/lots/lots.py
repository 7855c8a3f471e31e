"""The page of a lot: what it will do, how far it is, and what became of each order."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from starlette.responses import Response, StreamingResponse

from printworks.actions.lots.lots import start_lot
from printworks.catalogue.products import Currency
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.lots import LineProblem, LineState, LotKind, LotProgress, LotState
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import is_on_account
from printworks.rules.spreadsheets import as_text
from printworks.store.orders.lots import (
    Lot,
    LotLine,
    get_lot,
    list_lines,
    measure_progress,
)
from printworks.store.orders.orders import Order, list_orders_by_id

_LINES: Final = 50
_LINES_AT_ONCE: Final = 500
# Of one order: it may have thousands of rows, all of them wrong.
_MOST_PROBLEMS: Final = 5
_WRONG: Final = (LineState.BAD, LineState.REFUSED)
_RIGHT: Final = (LineState.READY, LineState.CREATED, LineState.DONE)
# What is done, has been done and is to be done with so many orders.
_WORDS: Final[Mapping[LotKind, tuple[str, str, str]]] = {
    LotKind.IMPORT: ("Creating orders", "created", "Create"),
    LotKind.SUBMIT: ("Submitting orders", "submitted", "Submit"),
    LotKind.CANCEL: ("Cancelling orders", "cancelled", "Cancel"),
}


class WrongLine(msgspec.Struct, frozen=True):
    """What is wrong with a line, as it is listed."""

    problem: LineProblem
    reference: str
    order_id: int | None


class RightLine(msgspec.Struct, frozen=True, kw_only=True):
    """An order of a lot: to be created, or there already."""

    rows: Sequence[int]
    order_id: int | None
    reference: str
    recipient: str
    country: str | None
    images: int
    status: OrderStatus | None
    price: int | None
    currency: Currency | None


@page_at("/orders/lots/{id}")
def show_lot(visit: MerchantVisit) -> Response:
    """Show what a lot comes to, how far it is, or what became of it."""
    lot = get_lot(visit.db, visit.merchant.id, visit.number("id"))
    progress = measure_progress(visit.db, lot.id)
    etag = visit.etag(lot.state, progress)
    wrong, more_wrong = _list_wrong(visit, lot)
    right, more_right = _list_right(visit, lot)
    doing, done, verb = _WORDS[lot.kind]
    return visit.render(
        "merchant/lot.html",
        lot=lot,
        progress=progress,
        is_import=lot.kind is LotKind.IMPORT,
        is_checked=lot.state is LotState.CHECKED,
        is_running=lot.state is LotState.RUNNING,
        etag=etag,
        doing=doing,
        done_word=done,
        verb=verb,
        bad=progress.count(LineState.BAD),
        good=progress.count(LineState.READY),
        finished=progress.count(LineState.DONE),
        refused=progress.count(LineState.REFUSED),
        has_corrections=_has_corrections(lot, progress),
        wrong=wrong,
        wrong_pages=visit.pages(more_wrong, by="wrong"),
        right=right,
        right_pages=visit.pages(more_right, by="right"),
        is_on_account=is_on_account(visit.merchant.billing, visit.services.gateway.cards),
        submits=visit.sent.text("submits"),
    )


@show_lot.action("start-lot")
def start(visit: MerchantVisit) -> None:
    """Begin; whoever sends the form again sees how far it is."""
    submits = visit.sent.text("submits") == "yes"
    prints_blurred = visit.sent.text("prints_blurred") == "yes"
    lot_id = visit.number("id")
    start_lot(visit.work, lot_id, submits=submits, prints_blurred=prints_blurred)


def _has_corrections(lot: Lot, progress: LotProgress) -> bool:
    return lot.kind is LotKind.IMPORT and progress.count(*_WRONG) > 0


def _list_wrong(visit: MerchantVisit, lot: Lot) -> tuple[list[WrongLine], int | None]:
    after = visit.cursor("wrong") or 0
    lines, following = list_lines(visit.db, lot.id, _WRONG, after=after, limit=_LINES)
    listed = [
        WrongLine(problem, line.reference or "", line.order_id)
        for line in lines
        for problem in _shorten(line.complaints)
    ]
    return listed, following


def _shorten(complaints: list[LineProblem]) -> list[LineProblem]:
    """Return the first of what is wrong with an order, and say how much more there is."""
    more = len(complaints) - _MOST_PROBLEMS
    if more <= 0:
        return complaints
    rest = complaints[_MOST_PROBLEMS]
    things = "one more problem" if more == 1 else f"{more:,} more problems"
    sentence = f"This order has {things}: download its rows, which name them all."
    return [*complaints[:_MOST_PROBLEMS], LineProblem(rest.row, "", sentence)]


def _list_right(visit: MerchantVisit, lot: Lot) -> tuple[list[RightLine], int | None]:
    after = visit.cursor("right") or 0
    lines, following = list_lines(visit.db, lot.id, _RIGHT, after=after, limit=_LINES)
    ids = [line.order_id for line in lines if line.order_id is not None]
    found = list_orders_by_id(visit.db, visit.merchant.id, ids)
    orders = {order.id: order for order in found}
    return [_describe(line, orders.get(line.order_id or 0)) for line in lines], following


def _describe(line: LotLine, order: Order | None) -> RightLine:
    if order is not None:
        return RightLine(
            rows=line.rows,
            order_id=order.id,
            reference=order.merchant_order_id or "",
            recipient=order.recipient_name or "",
            country=order.destination_country,
            images=order.image_count,
            status=order.status,
            price=order.total,
            currency=order.currency,
        )
    content: Mapping[str, Any] = {"order": {}, "images": (), **(line.content or {})}
    return RightLine(
        rows=line.rows,
        order_id=line.order_id,
        reference=line.reference or "",
        recipient=content["order"].get("recipient_name") or "",
        country=content["order"].get("destination_country"),
        images=len(content["images"]),
        status=None,
        price=None,
        currency=None,
    )


@page_at("/orders/lots/{id}/corrections.csv")
def download_corrections(visit: MerchantVisit) -> Response:
    """Return the rows of a file from which nothing was made, with what is wrong, to be corrected."""
    lot = get_lot(visit.db, visit.merchant.id, visit.number("id"))
    headers = {
        "Content-Disposition": f'attachment; filename="corrections-{lot.id}.csv"',
        "Cache-Control": "no-store",
    }
    rows = _write_corrections(visit, lot)
    return StreamingResponse(rows, media_type="text/csv", headers=headers)


def _write_corrections(visit: MerchantVisit, lot: Lot) -> Iterator[bytes]:
    """Write the rows as they were sent, with one more column that says what is wrong."""
    yield b"\xef\xbb\xbf"
    yield _write_row([*lot.heads, "problem"])
    after: int | None = 0
    while after is not None:
        # A piece at a time, each read by itself: a slow reader holds no transaction.
        with visit.services.database.reading() as db:
            lines, after = list_lines(db, lot.id, _WRONG, after=after, limit=_LINES_AT_ONCE)
        for line in lines:
            yield from _write_line(line, len(lot.heads))


def _write_line(line: LotLine, width: int) -> Iterator[bytes]:
    for number, cells in zip(line.rows, line.cells or (), strict=False):
        wrong = [one for one in line.complaints if one.row == number]
        said = " ".join(_name(problem) for problem in wrong)
        # A row may be shorter or longer than the heading.
        yield _write_row([*(cells + [""] * width)[: max(width, 1)], said])


def _name(problem: LineProblem) -> str:
    return f"{problem.column}: {problem.sentence}" if problem.column else problem.sentence


def _write_row(cells: Sequence[str]) -> bytes:
    written = io.StringIO(newline="")
    csv.writer(written).writerow([as_text(cell) for cell in cells])
    return written.getvalue().encode()
