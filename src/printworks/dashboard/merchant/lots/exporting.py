"""The orders of a filter as a table for spreadsheets."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

from starlette.responses import Response, StreamingResponse

from printworks.catalogue.country_names import name_country
from printworks.dashboard.merchant.orders.orders import read_search
from printworks.dashboard.shared.labels import label
from printworks.dashboard.shared.money import write_amount
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.spreadsheets import as_text
from printworks.store.images.images import OrderedSum, sum_items_of_orders
from printworks.store.orders.orders import Order, list_orders_by_id
from printworks.store.orders.search import OrderSearch, search_orders
from printworks.store.orders.shipments import Shipment, list_shipments_of_orders

# Orders that are read together: no more are ever in memory.
_AT_ONCE: Final = 200
# An order with more products names these, and that there are more.
_MOST_PRODUCTS: Final = 50
_HEADS: Final = (
    *("order", "reference", "status", "created", "recipient", "address1", "address2", "town"),
    *("state", "postcode", "country", "email", "products", "images", "copies"),
    *("product_amount", "shipping_amount", "tax_amount", "total", "currency"),
    *("carrier", "tracking_number", "tracking_url", "dispatched"),
)


@page_at("/orders/export.csv")
def export_orders(visit: MerchantVisit) -> Response:
    """Return the orders that the list would show, newest first, written while they are sent."""
    headers = {
        "Content-Disposition": f'attachment; filename="orders-{visit.now:%Y-%m-%d}.csv"',
        "Cache-Control": "no-store",
    }
    # Now: when the rest is written, the connection of the visit belongs to others.
    wanted = read_search(visit)
    return StreamingResponse(_write(visit, wanted), media_type="text/csv", headers=headers)


def _write(visit: MerchantVisit, wanted: OrderSearch) -> Iterator[bytes]:
    """Write a piece at a time, each read by itself: a slow reader holds no transaction."""
    yield b"\xef\xbb\xbf" + _write_rows([_HEADS])
    before: int | None = None
    while True:
        with visit.services.database.reading() as db:
            found = search_orders(db, visit.merchant.id, wanted, before=before, limit=_AT_ONCE)
            ids = [line.id for line in found.orders]
            orders = list_orders_by_id(db, visit.merchant.id, ids)
            items = sum_items_of_orders(db, ids)
            shipments = list_shipments_of_orders(db, ids)
        yield _write_rows(
            [
                _describe(order, items.get(order.id, []), shipments.get(order.id, []))
                for order in orders
            ]
        )
        before = found.next
        if before is None:
            return


def _write_rows(rows: Sequence[Sequence[str]]) -> bytes:
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerows([as_text(cell) for cell in row] for row in rows)
    return written.getvalue().encode()


def _describe(
    order: Order, items: Sequence[OrderedSum], shipments: Sequence[Shipment]
) -> list[str]:
    products = [f"{item.copies} x {item.sku}" for item in items]
    more = ["more"] if len(products) > _MOST_PRODUCTS else []
    sent = [one for one in shipments if one.shipped_at is not None]
    recipient = (
        *(order.recipient_name, order.address1, order.address2, order.town_or_city),
        *(order.state_or_county, order.postal_code, name_country(order.destination_country)),
        order.email,
    )
    return [
        *(str(order.id), order.merchant_order_id or "", str(label(order.status))),
        f"{order.created_at:%Y-%m-%d %H:%M:%S}",
        *(text or "" for text in recipient),
        "; ".join([*products[:_MOST_PRODUCTS], *more]),
        *(str(sum(item.images for item in items)), str(sum(item.copies for item in items))),
        *_write_money(order),
        "; ".join(dict.fromkeys(str(one.carrier) for one in sent)),
        "; ".join(one.tracking_number for one in sent if one.tracking_number),
        "; ".join(one.tracking_url for one in sent if one.tracking_url),
        "; ".join(f"{one.shipped_at:%Y-%m-%d %H:%M:%S}" for one in sent),
    ]


def _write_money(order: Order) -> list[str]:
    if order.currency is None:
        return ["", "", "", "", ""]
    products = order.price - order.shipping_price
    amounts = (products, order.shipping_price, order.tax or 0, order.total)
    return [*(write_amount(amount, order.currency) for amount in amounts), order.currency]
