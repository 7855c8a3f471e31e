"""Everything that is known of a person, as one ZIP: a JSON document and pictures.

The document is put together in one snapshot; the archive is written piece by piece while it is
sent, so that neither memory nor disk has to hold it.
"""

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import IO, Any, Final, cast

import msgspec
from sqlalchemy import Connection

from printworks.actions.work import SystemWork
from printworks.errors import BadInput
from printworks.files.errors import FileMissing
from printworks.files.store import Files
from printworks.rules.privacy import ORDER_FIELDS
from printworks.store.accounts.merchants import get_merchant
from printworks.store.console.orders import get_any_order
from printworks.store.images.images import Image, list_images
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.images.pictures import get_picture, proof_key
from printworks.store.issues.issues import list_issues, list_remarks
from printworks.store.issues.photos import list_photos
from printworks.store.labs.shipments import list_shipments
from printworks.store.money.payments import list_requests_of_order
from printworks.store.orders.orders import Order

# One person rarely has more; whoever does is exported in several parts.
MOST_ORDERS: Final = 200
# Pictures beyond this are named and left out.
MOST_BYTES: Final = 4_000_000_000
_MOST_PAYMENTS: Final = 100
_CHUNK: Final = 1 << 18
_EARLIEST: Final = 1980

# The names in the archive and the keys in the file store.
Pictures = Mapping[str, str]


class PersonExport(msgspec.Struct, frozen=True):
    """A document about a person, and the files that belong to it."""

    document: Mapping[str, Any]
    pictures: Pictures
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
        described.append(_describe_order(system.db, order))
        pictures |= _list_pictures(system.db, order)
        work = system.for_merchant(get_merchant(system.db, order.merchant_id))
        work.audit("export-recipient", f"order {order.id}")
    document = {"exportedAt": system.real_now, "orders": described, "files": list(pictures)}
    return PersonExport(document, pictures, system.real_now)


def write_archive(files: Files, export: PersonExport) -> Iterator[bytes]:
    """Write the archive, a piece at a time."""
    target = _Pieces()
    left_out: list[str] = []
    room = MOST_BYTES
    with zipfile.ZipFile(cast("IO[bytes]", target), "w", zipfile.ZIP_DEFLATED) as archive:
        document = msgspec.json.format(msgspec.json.encode(export.document), indent=2)
        archive.writestr(_entry("person.json", export.at, zipfile.ZIP_DEFLATED), document)
        yield target.take()
        for name, key in export.pictures.items():
            written = 0
            try:
                for size in _write_picture(files, archive, _entry(name, export.at), key, room):
                    written += size
                    yield target.take()
            except FileMissing:
                left_out.append(f"{name}: it is no longer stored")
                continue
            if not written:
                left_out.append(f"{name}: the archive is full; export fewer orders at once")
            room -= written
        if left_out:
            text = "\n".join([*left_out, ""]).encode()
            archive.writestr(_entry("left-out.txt", export.at), text)
    yield target.take()


def _write_picture(
    files: Files, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, key: str, room: int
) -> Iterator[int]:
    """Add a picture in pieces; nothing if it is larger than the room that is left."""
    with files.local(key) as path:
        if path.stat().st_size > room:
            return
        with path.open("rb") as source, archive.open(entry, "w", force_zip64=True) as written:
            while piece := source.read(_CHUNK):
                written.write(piece)
                yield len(piece)


def _entry(name: str, at: datetime, how: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    moment = (max(at.year, _EARLIEST), at.month, at.day, at.hour, at.minute, at.second)
    entry = zipfile.ZipInfo(name, moment)
    entry.compress_type = how
    # Pictures of a person are for nobody else on the machine.
    entry.external_attr = 0o600 << 16
    return entry


class _Pieces:
    """A file that is only written to, and whose content is taken away as it comes."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Nothing is held back."""

    def take(self) -> bytes:
        """Return what was written since the last time."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)


def _describe_order(db: Connection, order: Order) -> dict[str, Any]:
    merchant = get_merchant(db, order.merchant_id)
    issues = list_issues(db, order.merchant_id, order.id)
    remarks = list_remarks(db, issues)
    payments = list_requests_of_order(db, order.id, limit=_MOST_PAYMENTS)
    return {
        "order": order.id,
        "merchant": merchant.name,
        **_pick(order, "merchant_order_id", "status", "created_at", "updated_at"),
        "recipient": _pick(order, *ORDER_FIELDS, "destination_country"),
        **_pick(order, "shipping_method", "currency", "price"),
        "images": [
            _pick(image, "id", "sku", "url", "copies", "attributes", "md5", "width", "height")
            for image in list_images(db, order.id)
        ],
        "shipments": [
            _pick(
                one,
                *("id", "state", "carrier", "tracking_number", "tracking_url", "shipped_at"),
                *("reason", "held_because"),
            )
            for one in list_shipments(db, order.id)
        ],
        "issues": [
            {
                **_pick(issue, "id", "kind", "detail", "action", "action_detail", "state"),
                "remarks": remarks.get(issue.id, []),
            }
            for issue in issues
        ],
        "payments": [
            _pick(one, "payer", "provider", "state", "amount", "currency", "reference", "reason")
            for one in payments
        ],
    }


def _list_pictures(db: Connection, order: Order) -> Pictures:
    """Name the files of an order as they are called in the archive."""
    pictures: dict[str, str] = {}
    for image in list_images(db, order.id):
        pictures |= _list_files_of_image(db, order, image)
    slip = find_packing_slip(db, order.id)
    if slip is not None and slip.file is not None:
        pictures[f"order-{order.id}/packing-slip"] = slip.file
    for issue in list_issues(db, order.merchant_id, order.id):
        for photo in list_photos(db, issue):
            pictures[f"order-{order.id}/issue-{issue.id}-photo-{photo.id}.jpg"] = photo.file
    return pictures


def _list_files_of_image(db: Connection, order: Order, image: Image) -> Pictures:
    found: dict[str, str] = {}
    name = f"order-{order.id}/image-{image.id}"
    if image.picture_id is not None:
        picture = get_picture(db, image.picture_id)
        if picture.original is not None:
            found[f"{name}{_find_ending(picture.facts)}"] = picture.original
    if image.width is not None:
        found[f"{name}-preview.jpg"] = proof_key(image.id, "preview")
    return found


def _find_ending(facts: Mapping[str, Any] | None) -> str:
    kind = str((facts or {}).get("format", "")).lower()
    return f".{kind}" if kind.isalnum() else ""


def _pick(thing: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}
