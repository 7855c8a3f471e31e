"""What is wrong with the orders of a file, before any of them is created."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeVar

import msgspec

from printworks.actions.work import Work
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.products import Product, choose_attributes
from printworks.errors import BadInput
from printworks.rules.images import MOST_COPIES
from printworks.rules.imports import ImportRow
from printworks.rules.lots import LineProblem, LineState
from printworks.rules.orders import ShippingMethod
from printworks.rules.recipients import NEEDED, OPTIONAL, find_problems, tidy
from printworks.rules.sizing import Sizing
from printworks.store.images.images import NewImage
from printworks.store.orders.lots import NewLine
from printworks.store.orders.orders import NewOrder

E = TypeVar("E", bound=StrEnum)

# What an order has once, however many rows it has.
_OF_ORDER: Final = (*NEEDED, *OPTIONAL, "telephone", "country", "shipping_method")
# What must be known to send anything; an email address need not be.
_REQUIRED: Final = tuple(name for name in NEEDED if name != "email")
_LONGEST_REFERENCE: Final = 255
_LONGEST_TELEPHONE: Final = 50
_CODES: Final[Mapping[str, str]] = {
    **{country.name.casefold(): code for code, country in COUNTRIES.items()},
    **{code.casefold(): code for code in COUNTRIES},
    "uk": "GB",
    "great britain": "GB",
    "usa": "US",
    "united states of america": "US",
}
_BETWEEN_CHOICES: Final = re.compile(r"[;|\n]")
_WHOLE: Final = re.compile(r"([0-9]{1,9})(?:[.,]0+)?")


class ImportedOrder(msgspec.Struct, frozen=True):
    """An order as a file describes it, ready to be created."""

    order: NewOrder
    images: list[NewImage]


class OrderCheck:
    """Reads the rows of one order, and collects all that is wrong with them."""

    def __init__(self, work: Work, rows: Sequence[ImportRow]) -> None:
        self._work = work
        self._rows = rows
        self._first = rows[0]
        self._problems: list[LineProblem] = []

    def check(self, known: Mapping[str, int]) -> tuple[NewLine, ImportedOrder | None]:
        """Return the order as a line of a lot; `known` has the orders by reference."""
        order = self._read_order(known)
        images = [image for row in self._rows if (image := self._read_image(row, order))]
        most = self._work.quotas.order_images
        if len(self._rows) > most:
            self._refuse(self._first, "reference", f"An order can have at most {most:,} images.")
        imported = ImportedOrder(order, images)
        is_bad = bool(self._problems)
        line = NewLine(
            state=LineState.BAD if is_bad else LineState.READY,
            reference=order.merchant_order_id,
            rows=[row.number for row in self._rows],
            content=None if is_bad else msgspec.to_builtins(imported),
            cells=[row.cells for row in self._rows],
            problems=self._problems,
        )
        return line, None if is_bad else imported

    def _refuse(self, row: ImportRow, column: str, sentence: str) -> None:
        self._problems.append(LineProblem(row.number, column, sentence))

    def _read_order(self, known: Mapping[str, int]) -> NewOrder:
        typed = {name: tidy(self._read_once(name)) for name in (*NEEDED, *OPTIONAL, "telephone")}
        for name, sentence in find_problems(_REQUIRED, typed).items():
            self._refuse(self._first, name, sentence)
        telephone = typed["telephone"]
        if len(telephone) > _LONGEST_TELEPHONE or not telephone.isprintable():
            self._refuse(self._first, "telephone", "Enter a valid phone number.")
        recipient: dict[str, Any] = {name: value or None for name, value in typed.items()}
        return NewOrder(
            **recipient,
            destination_country=self._read_country(),
            shipping_method=self._read_choice(
                self._first, "shipping_method", ShippingMethod.STANDARD
            ),
            merchant_order_id=self._read_reference(known),
        )

    def _read_once(self, name: str) -> str:
        """Return what the order says; its other rows may leave it empty or say the same."""
        said = [(row, row.value(name)) for row in self._rows if row.value(name)]
        for row, value in said[1:]:
            if tidy(value) != tidy(said[0][1]):
                self._refuse(
                    row,
                    name,
                    f"This differs from row {said[0][0].number}, which has the same reference. "
                    "Make it the same, or leave it empty.",
                )
        return said[0][1] if said else ""

    def _read_reference(self, known: Mapping[str, int]) -> str | None:
        reference = self._first.value("reference")
        if len(reference) > _LONGEST_REFERENCE:
            message = f"The reference can have at most {_LONGEST_REFERENCE} characters."
            self._refuse(self._first, "reference", message)
        elif not reference.isprintable():
            message = "The reference contains a character that cannot be printed."
            self._refuse(self._first, "reference", message)
        elif reference in known:
            self._refuse(self._first, "reference", explain_known(known[reference]))
        return reference or None

    def _read_country(self) -> str | None:
        typed = self._read_once("country")
        code = _CODES.get(tidy(typed).casefold())
        if code is None:
            what = "Enter the country" if not typed else "There is no such country: enter it"
            self._refuse(self._first, "country", f"{what} by its two letters, such as GB or US.")
        return code

    def _read_choice(self, row: ImportRow, column: str, usual: E) -> E:
        typed = row.value(column) if column not in _OF_ORDER else self._read_once(column)
        if not typed:
            return usual
        kind = type(usual)
        wanted = "".join(filter(str.isalnum, typed)).casefold()
        found = next((one for one in kind if one.value.casefold() == wanted), None)
        if found is None:
            offered = ", ".join(kind)
            self._refuse(row, column, f"Choose one of these: {offered}.")
        return found or usual

    def _read_image(self, row: ImportRow, order: NewOrder) -> NewImage | None:
        before = len(self._problems)
        product = self._read_product(row, order.destination_country)
        url = row.value("image_url")
        if not url:
            self._refuse(row, "image_url", "Enter the address of the picture.")
        else:
            try:
                self._work.check_address(url)
            except BadInput as refusal:
                self._refuse(row, "image_url", refusal.message)
        copies = self._read_copies(row)
        sizing = self._read_choice(row, "sizing", Sizing.CROP)
        chosen = self._read_attributes(row, product)
        if product is None or len(self._problems) > before:
            return None
        return NewImage(sku=product.sku, url=url, copies=copies, sizing=sizing, attributes=chosen)

    def _read_product(self, row: ImportRow, country: str | None) -> Product | None:
        sku = row.value("sku")
        product = self._work.catalogue.find_product(sku)
        if not sku:
            self._refuse(row, "sku", "Enter the code of a product.")
        elif product is None:
            self._refuse(row, "sku", "The catalogue has no product with this code.")
        elif country is not None and not product.is_sold_to(country):
            self._refuse(row, "sku", f"{product.sku} is not sold to {country}.")
        return product

    def _read_copies(self, row: ImportRow) -> int:
        typed = row.value("copies") or "1"
        found = _WHOLE.fullmatch(typed)
        if found is None or not 1 <= int(found[1]) <= MOST_COPIES:
            self._refuse(row, "copies", f"Enter a number from 1 to {MOST_COPIES:,}.")
            return 1
        return int(found[1])

    def _read_attributes(self, row: ImportRow, product: Product | None) -> dict[str, str]:
        wanted = {}
        for choice in _BETWEEN_CHOICES.split(row.value("attributes")):
            name, sign, value = choice.partition("=")
            if not choice.strip():
                continue
            if not sign:
                message = "Write each choice as name=value, separated by semicolons."
                self._refuse(row, "attributes", message)
                return {}
            wanted[name.strip()] = value.strip()
        if product is None:
            return {}
        try:
            return choose_attributes(product, wanted)
        except BadInput as refusal:
            self._refuse(row, "attributes", refusal.message)
            return {}


def explain_known(order_id: int) -> str:
    """Say that the reference of an order is taken."""
    return (
        f"Order {order_id} has this reference already. Leave the row out, or change the reference "
        "to order it once more."
    )
