"""Everything that is known of an order, as a document and the names of its files."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection

from printworks.rules.privacy import ORDER_FIELDS
from printworks.store.accounts.merchants import get_merchant
from printworks.store.images.images import Image, list_images
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.images.pictures import get_picture, mockup_key, proof_key
from printworks.store.issues.issues import list_issues, list_remarks
from printworks.store.issues.photos import list_photos
from printworks.store.money.payments import list_requests_of_order
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import list_shipments

_MOST_PAYMENTS: Final = 100

# The names of files in an archive, and their keys in the file store.
NamedFiles = Mapping[str, str]


def describe_order(db: Connection, order: Order) -> dict[str, Any]:
    """Return what is known of an order and its recipient, with its issues and payments."""
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


def name_files(db: Connection, order: Order) -> NamedFiles:
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


def _list_files_of_image(db: Connection, order: Order, image: Image) -> NamedFiles:
    found: dict[str, str] = {}
    name = f"order-{order.id}/image-{image.id}"
    if image.picture_id is not None:
        picture = get_picture(db, image.picture_id)
        if picture.original is not None:
            found[f"{name}{_find_ending(picture.facts)}"] = picture.original
    if image.width is not None:
        found[f"{name}-preview.jpg"] = proof_key(image.id, "preview")
    if image.mockup is not None:
        found[f"{name}-mockup.jpg"] = mockup_key(image.id)
    return found


def _find_ending(facts: Mapping[str, Any] | None) -> str:
    kind = str((facts or {}).get("format", "")).lower()
    return f".{kind}" if kind.isalnum() else ""


def _pick(thing: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}
