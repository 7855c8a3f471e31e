"""One sample of every callback that a merchant may get, as golden files.

After a change that is meant, write them anew with `python -m tests.wire.callback_samples`,
and read the difference before you commit it.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from printworks.rules.callbacks import CallbackEvent, CallbackFormat
from printworks.rules.events import OrderCreated, OrderMoved, ShipmentFact, ShipmentsChanged
from printworks.rules.orders import OrderStatus
from printworks.wire.callbacks import render_callback

FOLDER: Final = Path(__file__).parent / "callbacks"

_S = OrderStatus
_PLANNED: Final = ShipmentFact(
    id=7,
    items=[501, 502],
    is_shipped=False,
    carrier="RoyalMail",
    tracking_number=None,
    tracking_url=None,
)
_SHIPPED: Final = ShipmentFact(
    id=8,
    items=[503],
    is_shipped=True,
    carrier="DHL",
    tracking_number="JD0002",
    tracking_url="https://tracking.example/JD0002?language=en&full=1",
)
_UNTRACKED: Final = ShipmentFact(
    id=7,
    items=[501, 502],
    is_shipped=True,
    carrier="RoyalMail",
    tracking_number=None,
    tracking_url=None,
)

SAMPLES: Final[Mapping[str, CallbackEvent]] = {
    "created": OrderCreated(_S.NOT_YET_SUBMITTED, "invoice 42"),
    "created-without-reference": OrderCreated(_S.NOT_YET_SUBMITTED, None),
    "created-with-odd-reference": OrderCreated(_S.NOT_YET_SUBMITTED, 'Café "\\" </b> 日本 🖼'),
    "awaiting-payment": OrderMoved(_S.NOT_YET_SUBMITTED, _S.AWAITING_PAYMENT, "invoice 42"),
    "payment-expired": OrderMoved(_S.AWAITING_PAYMENT, _S.NOT_YET_SUBMITTED, "invoice 42"),
    "submitted": OrderMoved(_S.NOT_YET_SUBMITTED, _S.SUBMITTED, "invoice 42", [_PLANNED]),
    "submitted-without-images": OrderMoved(
        _S.AWAITING_PAYMENT, _S.SUBMITTED, "invoice 42", [_PLANNED], lacks_images=True
    ),
    "cancelled": OrderMoved(_S.SUBMITTED, _S.CANCELLED, "invoice 42"),
    "complete": OrderMoved(_S.SUBMITTED, _S.COMPLETE, "invoice 42", [_UNTRACKED, _SHIPPED]),
    "shipments-created": ShipmentsChanged(
        status=_S.SUBMITTED, merchant_order_id="invoice 42", changed=[7], shipments=[_PLANNED]
    ),
    "shipments-created-without-images": ShipmentsChanged(
        status=_S.SUBMITTED,
        merchant_order_id="invoice 42",
        changed=[7],
        shipments=[_PLANNED],
        lacks_images=True,
    ),
    "shipped-in-part": ShipmentsChanged(
        status=_S.SUBMITTED,
        merchant_order_id="invoice 42",
        changed=[8],
        shipments=[_PLANNED, _SHIPPED],
    ),
    "replanned-after-a-parcel-left": ShipmentsChanged(
        status=_S.SUBMITTED,
        merchant_order_id="invoice 42",
        changed=[7],
        shipments=[_PLANNED, _SHIPPED],
    ),
}


def render_all() -> Iterator[tuple[Path, bytes]]:
    """Yield every golden file, and what should be in it."""
    at = datetime(2020, 6, 5, 17, 19, 43, 367_891, tzinfo=UTC)
    for wanted in CallbackFormat:
        for name, event in SAMPLES.items():
            body = render_callback(event, order_id=42, environment="sandbox", at=at, format=wanted)
            yield FOLDER / f"{wanted}-{name}.json", body + b"\n"


def main() -> None:
    """Write the golden files anew."""
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for path, content in render_all():
        path.write_bytes(content)


if __name__ == "__main__":
    main()
