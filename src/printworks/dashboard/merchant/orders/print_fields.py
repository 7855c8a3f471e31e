"""The fields of a form about prints: product, copies and sizing."""

from collections.abc import Sequence
from typing import Final

import msgspec

from printworks.catalogue.products import Currency, Product
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.labels import SIZINGS, name_attribute, name_country, shorten
from printworks.dashboard.shared.money import format_money, read_money
from printworks.dashboard.shared.order_images import write_size
from printworks.dashboard.site.forms import Sent, at_field, read_choice, read_number
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput
from printworks.net.errors import BadAddress
from printworks.rules.images import MOST_COPIES, MOST_IN_BATCH
from printworks.rules.orders import Payment
from printworks.rules.sizing import Pixels, Sizing, mismatch
from printworks.store.images.images import NewImage

# Before the name of a choice of the product.
CHOICE: Final = "choice-"
_NO_SIZING: Final = "Choose how the picture should fit the paper."
# Most pictures of cameras have this shape, and so has our sample.
_USUAL_SHAPE: Final = Pixels(2, 3)


class Group(msgspec.Struct, frozen=True):
    """Products of one kind, for a list to choose from."""

    name: str
    products: Sequence[Product]


class FieldChoice(msgspec.Struct, frozen=True):
    """Something that the merchant can choose of a product."""

    field: str
    label: str
    values: Sequence[str]
    default: str | None


class PrintFieldsView(msgspec.Struct, frozen=True, kw_only=True):
    """What the part of a form about prints shows."""

    groups: Sequence[Group]
    sku: str
    about: str
    choices: Sequence[FieldChoice]
    # Why another product is shown than the one that was asked for.
    instead: str = ""
    sizings: Sequence[tuple[str, str]] = tuple(
        (sizing, str(name)) for sizing, name in SIZINGS.items()
    )


def describe_prints(visit: MerchantVisit, wanted: str, country: str) -> PrintFieldsView:
    """Return what can be printed for a country, and all about the product that is wanted."""
    catalogue, currency = visit.services.catalogue, visit.merchant.currency
    products = catalogue.list_sold_to(country)
    product = catalogue.find_product(wanted)
    instead = ""
    if product is not None and not product.is_sold_to(country):
        instead = explain_not_sold(product, country)
    if product is None or instead:
        product = choose_first(catalogue, products)
    return PrintFieldsView(
        groups=_group(catalogue, products),
        sku=product.sku if product else "",
        about=_describe(product, country=country, currency=currency) if product else "",
        choices=list_choices(product) if product else (),
        instead=instead,
    )


def choose_first(catalogue: Catalogue, products: Sequence[Product]) -> Product | None:
    """Return the default product: one that crops nothing off a usual picture."""
    kinds = {kind: place for place, kind in enumerate(catalogue.kinds)}
    ordered = sorted(products, key=lambda product: kinds[product.kind])
    fitting = (product for product in ordered if mismatch(_USUAL_SHAPE, product.print_area) == 1)
    return next(fitting, ordered[0] if ordered else None)


def list_choices(product: Product) -> list[FieldChoice]:
    """Return what can be chosen of a product."""
    return [
        FieldChoice(
            f"{CHOICE}{attribute.name}",
            name_attribute(attribute.name),
            attribute.valid_values,
            attribute.default,
        )
        for attribute in product.attributes
    ]


def explain_not_sold(product: Product, country: str) -> str:
    """Say that a product does not go to a country."""
    return f"{product.description} ({product.sku}) is not sold to {name_country(country)}."


def read_print(visit: MerchantVisit, *, country: str | None, payment: Payment) -> NewImage:
    """Read how pictures should be printed; refuse a product that is not sold there."""
    sent = visit.sent
    product = visit.services.catalogue.find_product(sent.text("sku"))
    if product is None:
        raise BadInput("Choose a product.", field="sku")
    if country is not None and not product.is_sold_to(country):
        message = f"{explain_not_sold(product, country)} Choose another product."
        raise BadInput(message, field="sku")
    return NewImage(
        sku=product.sku,
        url=None,
        copies=_read_copies(sent.text("copies")),
        sizing=read_choice(Sizing, sent.text("sizing"), _NO_SIZING, field="sizing"),
        attributes=_read_choices(sent, product),
        price_to_user=_read_price(sent.text("price_to_user"), payment, visit.merchant.currency),
    )


def read_addresses(visit: MerchantVisit, wanted: NewImage) -> list[NewImage]:
    """Read the addresses of pictures, one in each line, to be printed as is wanted."""
    lines = [line.strip() for line in visit.sent.raw("addresses").splitlines() if line.strip()]
    if len(lines) > MOST_IN_BATCH:
        raise BadInput(f"Enter at most {MOST_IN_BATCH} addresses at once.", field="addresses")
    for line in lines:
        _check_address(visit, line)
    return [msgspec.structs.replace(wanted, url=line) for line in lines]


def _check_address(visit: MerchantVisit, line: str) -> None:
    try:
        visit.services.guard.check_url(line)
    except BadAddress as error:
        message = f"“{shorten(line)}” cannot be used. {error.message}"
        message = f"{message} It should look like https://shop.example/1.jpg."
        raise BadInput(message, field="addresses") from error


def _read_copies(typed: str) -> int:
    copies = read_number(typed)
    if copies is None or not 1 <= copies <= MOST_COPIES:
        raise BadInput(f"Copies must be a number from 1 to {MOST_COPIES:,}.", field="copies")
    return copies


def _read_choices(sent: Sent, product: Product) -> dict[str, str]:
    chosen = {}
    for choice, attribute in zip(list_choices(product), product.attributes, strict=True):
        # A browser may not have shown the choices of this product.
        value = sent.text(choice.field) or attribute.default
        if value not in attribute.valid_values:
            offered = ", ".join(attribute.valid_values)
            message = f"{choice.label} of this product can be: {offered}."
            raise BadInput(message, field=choice.field)
        chosen[attribute.name] = value
    return chosen


def _read_price(typed: str, payment: Payment, currency: Currency) -> int | None:
    if not typed:
        return None
    if payment is not Payment.INVOICE_RECIPIENT:
        raise BadInput(
            "Only a recipient who pays can be charged a price. Leave it empty, or let the recipient pay.",
            field="price_to_user",
        )
    with at_field("price_to_user"):
        return read_money(typed, currency, what="a price for the recipient", least=0)


def _group(catalogue: Catalogue, products: Sequence[Product]) -> list[Group]:
    groups = []
    for kind in catalogue.kinds:
        found = [product for product in products if product.kind == kind]
        if found:
            groups.append(Group(_name_kind(kind), found))
    return groups


def _name_kind(kind: str) -> str:
    """Return `fine-art` as `Fine art`."""
    return kind.replace("-", " ").capitalize()


def _describe(product: Product, *, country: str, currency: Currency) -> str:
    price = product.find_price(currency, country=country)
    wide, high = product.recommended_pixels
    costs = "" if price is None else f"{format_money(price, currency)} each. "
    return (
        f"{costs}The picture is printed at {write_size(product)}, and looks best with "
        f"{wide:,} \N{MULTIPLICATION SIGN} {high:,} pixels or more."
    )
