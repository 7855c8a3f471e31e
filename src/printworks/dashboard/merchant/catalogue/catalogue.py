"""What a merchant can order, with the prices that it pays."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec
from starlette.responses import Response

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.products import Product
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.labels import COUNTRY_CHOICES, name_attribute
from printworks.dashboard.shared.paging import choose_page
from printworks.dashboard.shared.product_pictures import draw_product
from printworks.dashboard.shared.products import find_products
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.rules.orders import ShippingMethod
from printworks.rules.people import Duty
from printworks.rules.sizing import Units
from printworks.store.engine.rows import group_by
from printworks.store.money.sellers import find_seller

_ON_A_PAGE: Final = 24
_OTHERS: Final = 6
# In the address: no kind is chosen, and all products are listed.
_EVERYTHING: Final = "all"
_USUAL_COUNTRY: Final = "GB"
_CENTIMETRES: Final[Mapping[Units, Decimal]] = {Units.INCHES: Decimal("2.54"), Units.CM: Decimal(1)}


class Tile(msgspec.Struct, frozen=True):
    """What the list shows of a product."""

    product: Product
    # In minor units of the merchant's currency; None if it is not sold in it.
    price: int | None


class KindTile(msgspec.Struct, frozen=True):
    """A kind of products: one of them to be drawn, how many there are, and the lowest price."""

    kind: str
    name: str
    example: Product
    count: int
    price: int | None


class ShippingLine(msgspec.Struct, frozen=True, kw_only=True):
    """One way to send a product to a country."""

    method: str
    is_tracked: bool
    # Of the first items in a parcel, and of as many again.
    first: int
    further: int
    items: int
    # Working days; None if nothing is promised.
    days: int | None


_SORTS: Final[Mapping[str, tuple[str, Callable[[Tile], Any] | None]]] = {
    "": ("As in the catalogue", None),
    "price": ("Cheapest first", lambda tile: (tile.price is None, tile.price or 0)),
    "size": ("Smallest first", lambda tile: _area(tile.product)),
}


@page_at("/catalogue")
def show_catalogue(visit: MerchantVisit) -> Response:
    """Show what can be ordered, a page at a time."""
    catalogue, country = visit.services.catalogue, _read_country(visit)
    text, kind, sort = visit.search_text, visit.query.get("kind", ""), visit.query.get("sort", "")
    shows_kinds = not (text or kind or sort or visit.cursor("from"))
    kind = kind if kind in catalogue.kinds else ""
    found = find_products(catalogue.products, text=text, kind=kind, country=country)
    prices = visit.work.prices
    tiles = _sort([Tile(product, prices.find(product, country)) for product in found], sort)
    page = choose_page(visit, tiles, _ON_A_PAGE)
    return visit.render(
        "merchant/catalogue.html",
        seller=find_seller(visit.db),
        kind_tiles=_list_kinds(tiles) if shows_kinds else [],
        tiles=page.shown,
        draw=draw_product,
        pages=page.links,
        first=page.first,
        total=len(found),
        text=text,
        kind=kind,
        kinds=[(_EVERYTHING, "Everything"), *((one, name_kind(one)) for one in catalogue.kinds)],
        country=country,
        countries=COUNTRY_CHOICES,
        sort=sort if sort in _SORTS else "",
        sorts=[(name, words) for name, (words, _) in _SORTS.items()],
        is_filtered=not shows_kinds,
        currency=visit.merchant.currency,
    )


@page_at("/catalogue/{sku}")
def show_product(visit: MerchantVisit) -> Response:
    """Show everything about a product: its sizes, its choices, and what it costs to send."""
    catalogue, country = visit.services.catalogue, _read_country(visit)
    product = catalogue.find_product(str(visit.request.path_params["sku"]))
    if product is None:
        refuse_unknown()
    prices = visit.work.prices
    return visit.render(
        "merchant/product.html",
        seller=find_seller(visit.db),
        product=product,
        draw=draw_product,
        kind=name_kind(product.kind),
        price=prices.find(product, country),
        steps=prices.list_steps(product, country),
        currency=visit.merchant.currency,
        country=country,
        countries=COUNTRY_CHOICES,
        is_sold_there=product.is_sold_to(country),
        sold_to=len(product.sold_to),
        is_sold_everywhere=len(product.sold_to) == len(COUNTRIES),
        choices=[(name_attribute(one.name), one) for one in product.attributes],
        shipping=_list_shipping(visit, catalogue, product, country),
        others=_list_others(visit, catalogue, product, country),
        may_order=visit.may(Duty.ORDER),
    )


def _list_kinds(tiles: Sequence[Tile]) -> list[KindTile]:
    """Return the kinds of these products, in the order of the catalogue."""
    kinds = group_by(tiles, lambda tile: tile.product.kind)
    return [
        KindTile(
            kind=kind,
            name=name_kind(kind),
            example=alike[len(alike) // 2].product,
            count=len(alike),
            price=min((tile.price for tile in alike if tile.price is not None), default=None),
        )
        for kind, alike in kinds.items()
    ]


def name_kind(kind: str) -> str:
    """Return `fine-art` as `Fine art`."""
    words = kind.replace("-", " ")
    return words[:1].upper() + words[1:]


def _read_country(visit: MerchantVisit) -> str:
    wanted = visit.query.get("country", "").upper()
    return wanted if wanted in COUNTRIES else _USUAL_COUNTRY


def _sort(tiles: Sequence[Tile], sort: str) -> Sequence[Tile]:
    _, key = _SORTS.get(sort, _SORTS[""])
    return tiles if key is None else sorted(tiles, key=key)


def _area(product: Product) -> Decimal:
    scale = _CENTIMETRES[product.units]
    return product.full_size.width * product.full_size.height * scale * scale


def _list_shipping(
    visit: MerchantVisit, catalogue: Catalogue, product: Product, country: str
) -> list[ShippingLine]:
    """Return the ways to send a product to a country, the slowest first."""
    if not product.is_sold_to(country):
        return []
    lines = []
    for rate in catalogue.list_rates(country, [product], list(ShippingMethod)):
        step = rate.steps.get(visit.merchant.currency)
        promise = catalogue.find_promise(rate.method, country)
        if step is not None:
            line = ShippingLine(
                method=str(rate.method),
                is_tracked=rate.is_tracked,
                first=step.first,
                further=step.further,
                items=step.items,
                days=promise.days if promise else None,
            )
            lines.append(line)
    return lines


def _list_others(
    visit: MerchantVisit, catalogue: Catalogue, product: Product, country: str
) -> list[Tile]:
    """Return products of the same kind that are next in size."""
    alike = find_products(catalogue.products, kind=product.kind, country=country)
    area = _area(product)
    others = sorted(
        (one for one in alike if one.sku != product.sku), key=lambda one: abs(_area(one) - area)
    )
    prices = visit.work.prices
    return [Tile(one, prices.find(one, country)) for one in others[:_OTHERS]]
