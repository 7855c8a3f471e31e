"""Everything that is known of a person, as one ZIP: a JSON document and pictures.

The document is put together in one snapshot; the archive is written piece by piece while it is
sent.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec

from printworks.actions.orders.documents import NamedFiles, describe_order, name_files
from printworks.actions.work import SystemWork
from printworks.errors import BadInput
from printworks.files.archives import ArchiveWriter, write_zip
from printworks.files.store import Files
from printworks.store.accounts.merchants import get_merchant
from printworks.store.views.console.orders import get_any_order

# One person rarely has more; whoever does is exported in several parts.
MOST_ORDERS: Final = 200
# Pictures beyond this are named and left out.
MOST_BYTES: Final = 4_000_000_000


class PersonExport(msgspec.Struct, frozen=True):
    """A document about a person, and the files that belong to it."""

    document: Mapping[str, Any]
    pictures: NamedFiles
    at: datetime


def export_orders(system: SystemWork, order_ids: Sequence[int]) -> PersonExport:
    """Collect what is known of the recipient of these orders, and note that somebody did."""
    if not order_ids:
        raise BadInput("Choose at least one order to export.")
    if len(order_ids) > MOST_ORDERS:
        raise BadInput(f"At most {MOST_ORDERS} orders can be exported at once; choose fewer.")
    pictures: dict[str, str] = {}
    described = []
    for order_id in dict.fromkeys(order_ids):
        order = get_any_order(system.db, order_id)
        described.append(describe_order(system.db, order))
        pictures |= name_files(system.db, order)
        work = system.for_merchant(get_merchant(system.db, order.merchant_id))
        work.audit("export-recipient", f"order {order.id}")
    document = {"exportedAt": system.real_now, "orders": described, "files": list(pictures)}
    return PersonExport(document, pictures, system.real_now)


def write_archive(files: Files, export: PersonExport) -> Iterator[bytes]:
    """Write the archive, a piece at a time."""
    archive = ArchiveWriter(files, export.at, most_bytes=MOST_BYTES)
    document = msgspec.json.format(msgspec.json.encode(export.document), indent=2)
    return write_zip(archive, ("person.json", document), export.pictures)
