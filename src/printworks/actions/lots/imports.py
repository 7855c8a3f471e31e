"""Orders from a file: looked at first, then created, each once, however often it is sent."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from printworks.actions.images.images import add_images
from printworks.actions.lots.checking import ImportedOrder, OrderCheck, explain_known
from printworks.actions.orders.orders import create_order
from printworks.actions.work import Work
from printworks.conversion import reader_of
from printworks.errors import WrongState
from printworks.rules.imports import ImportFile, group_rows, read_import
from printworks.rules.lots import LineState, LotKind, LotState, LotTotals
from printworks.rules.spreadsheets import read_table
from printworks.store.orders import lots as store
from printworks.store.orders.lots import Lot, LotLine, NewLine, NewLot

_LONGEST_NAME: Final = 100

_read_imported: Final = reader_of(ImportedOrder)


class SentFile(msgspec.Struct, frozen=True):
    """A file that was read, and by which it is known when it comes again."""

    name: str
    sha256: str
    content: ImportFile


class CheckedFile(msgspec.Struct, frozen=True):
    """A file whose orders were looked at."""

    file: SentFile
    lines: Sequence[NewLine]
    totals: LotTotals


def read_file(name: str, content: bytes, *, most_rows: int) -> SentFile:
    """Read a CSV file of orders; refuse one that is none."""
    table = read_import(read_table(content, most_rows=most_rows))
    return SentFile(name[:_LONGEST_NAME], hashlib.sha256(content).hexdigest(), table)


def check_file(work: Work, file: SentFile) -> CheckedFile:
    """Look at every order of a file; nothing is written."""
    groups = group_rows(file.content.rows)
    references = sorted({rows[0].value("reference") for rows in groups} - {""})
    known = store.find_references(work.db, work.merchant.id, references)
    lines, good = [], []
    for rows in groups:
        line, order = OrderCheck(work, rows).check(known)
        lines.append(line)
        good += [order] if order else []
    return CheckedFile(file, lines, _sum(work, good))


def _sum(work: Work, good: Sequence[ImportedOrder]) -> LotTotals:
    amount = 0
    for one in good:
        copies = Counter[str]()
        for image in one.images:
            copies[image.sku] += image.copies
        for sku, number in copies.items():
            product = work.catalogue.get_product(sku)
            country = one.order.destination_country or ""
            amount += number * (work.prices.find(product, country, number) or 0)
    images = [image for one in good for image in one.images]
    return LotTotals(len(images), sum(image.copies for image in images), amount)


def store_import(work: Work, checked: CheckedFile) -> int:
    """Store what a file came to; return its number, which is the same when the file comes again."""
    key = f"file {checked.file.sha256}"
    totals = msgspec.to_builtins(checked.totals)
    known = store.find_lot_by_key(work.db, work.merchant.id, key)
    if known is not None:
        if known.state is LotState.CHECKED:
            store.replace_lines(work.db, known, totals, checked.lines)
        return known.id
    new = NewLot(
        kind=LotKind.IMPORT,
        state=LotState.CHECKED,
        key=key,
        name=checked.file.name,
        who=work.actor.who,
        heads=list(checked.file.content.heads),
        totals=totals,
    )
    lot_id = store.insert_lot(work.db, work.merchant.id, new, checked.lines, now=work.real_now)
    work.audit("check-file", f"lot {lot_id}", orders=len(checked.lines))
    return lot_id


def create_imported(work: Work, lot: Lot, line: LotLine) -> None:
    """Create the order of a line that is locked, and write down that it exists."""
    imported = _read_imported(line.content)
    reference = imported.order.merchant_order_id
    if reference is not None:
        # Another file may have come first.
        known = store.find_references(work.db, work.merchant.id, [reference])
        if known:
            raise WrongState(explain_known(known[reference]))
    order = create_order(work, imported.order)
    add_images(work.unaudited, order, imported.images)
    state = LineState.CREATED if lot.submits else LineState.DONE
    store.update_line(work.db, line, state=state, order_id=order.id, content=None, cells=None)
