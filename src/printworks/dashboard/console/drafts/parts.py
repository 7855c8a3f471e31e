"""The parts of a catalogue: how each is found in a draft, checked, saved and removed."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from printworks.catalogue.drafts.checking import WrongValue, check_block, check_line
from printworks.catalogue.drafts.draft import Draft
from printworks.catalogue.drafts.products import (
    add_product,
    change_product,
    find_product,
    list_products,
    remove_product,
)
from printworks.dashboard.console.drafts.fields import FieldGroup
from printworks.dashboard.console.drafts.form_tables import (
    GROUP_GROUPS,
    HOLIDAY_GROUPS,
    PRODUCT_GROUPS,
    PROMISE_GROUPS,
    SERVICE_GROUPS,
    TARIFF_GROUPS,
    TAX_GROUPS,
)
from printworks.dashboard.console.drafts.inputs import as_list, show_countries
from printworks.dashboard.console.drafts.lab_form import LAB_GROUPS
from printworks.rules.orders import ShippingMethod

Values = Mapping[str, Any]
# What a line of a list says about something.
_LONGEST_ABOUT: Final = 80


class Entry(NamedTuple):
    """One product, lab, tariff, …: its name in addresses, what lists say of it, and its values."""

    name: str
    title: str
    about: str
    values: Values


class PartWords(msgspec.Struct, frozen=True, kw_only=True):
    """What a part is called."""

    # In addresses.
    key: str
    title: str
    noun: str
    lead: str
    groups: Sequence[FieldGroup]


class Part(Protocol):
    """A part of a catalogue that has a list and a form."""

    @property
    def words(self) -> PartWords:
        """What it is called."""

    def list_entries(self, draft: Draft) -> list[Entry]:
        """Return what there is of it."""

    def check(self, draft: Draft, entry: Entry | None, values: Values) -> list[WrongValue]:
        """Return what is wrong with values that would be saved; without an entry, of a new one."""

    def save(self, draft: Draft, entry: Entry | None, values: Values) -> None:
        """Change an entry, or add one."""

    def remove(self, draft: Draft, entry: Entry) -> None:
        """Remove an entry."""


class ProductPart(msgspec.Struct, frozen=True):
    """Products, with a block or a row each."""

    words: PartWords

    def list_entries(self, draft: Draft) -> list[Entry]:
        return [
            Entry(one.sku, str(one.values.get("description", "")), "", one.values)
            for one in list_products(draft)
        ]

    def check(self, draft: Draft, entry: Entry | None, values: Values) -> list[WrongValue]:
        others = Draft(draft.texts)
        if entry is not None:
            self.remove(others, entry)
        return check_block(others, "products", values)

    def save(self, draft: Draft, entry: Entry | None, values: Values) -> None:
        product = find_product(draft, entry.name) if entry else None
        if product is None:
            add_product(draft, values)
        else:
            change_product(draft, product, values)

    def remove(self, draft: Draft, entry: Entry) -> None:
        product = find_product(draft, entry.name)
        if product is not None:
            remove_product(draft, product)


class BlockPart(msgspec.Struct, frozen=True):
    """What has a block each: labs, services, tariffs, promises."""

    words: PartWords
    table: str

    def list_entries(self, draft: Draft) -> list[Entry]:
        blocks = draft.list_blocks(self.table)
        return [
            Entry(str(block.get("code", at)), *_describe(block), block)
            for at, block in enumerate(blocks)
        ]

    def check(self, draft: Draft, entry: Entry | None, values: Values) -> list[WrongValue]:
        others = Draft(draft.texts)
        if entry is not None:
            self.remove(others, entry)
        return check_block(others, self.table, values)

    def save(self, draft: Draft, entry: Entry | None, values: Values) -> None:
        if entry is None:
            draft.add_block(self.table, values)
        else:
            draft.change_block(self.table, self._find(draft, entry), values)

    def remove(self, draft: Draft, entry: Entry) -> None:
        draft.remove_block(self.table, self._find(draft, entry))

    def _find(self, draft: Draft, entry: Entry) -> int:
        return [one.name for one in self.list_entries(draft)].index(entry.name)


class LinePart(msgspec.Struct, frozen=True):
    """What is a line of a table with a list: groups of countries, and calendars."""

    words: PartWords
    table: str
    # What the form calls the list.
    key: str

    def list_entries(self, draft: Draft) -> list[Entry]:
        return [
            Entry(str(at), name, _count(listed, self.key), {"name": name, self.key: listed})
            for at, (name, listed) in enumerate(draft.read_table(self.table).items())
        ]

    def check(self, draft: Draft, entry: Entry | None, values: Values) -> list[WrongValue]:
        name = str(values.get("name", ""))
        if not name:
            return [WrongValue(("name",), "`name` must be a text that is not empty.")]
        others = {one.title for one in self.list_entries(draft) if one != entry}
        if name in others:
            return [WrongValue(("name",), f"`{name}` is defined twice.")]
        changed = Draft(draft.texts)
        self.save(changed, entry, values)
        found = check_line(changed, self.table, name)
        is_name = [one.sentence.startswith("A group cannot be called") for one in found]
        return [
            WrongValue(("name",) if named else (self.key,), one.sentence)
            for one, named in zip(found, is_name, strict=True)
        ]

    def save(self, draft: Draft, entry: Entry | None, values: Values) -> None:
        name, listed = str(values["name"]), values.get(self.key, [])
        if entry is not None and entry.title != name:
            draft.set_line(self.table, entry.title, None)
        draft.set_line(self.table, name, listed)

    def remove(self, draft: Draft, entry: Entry) -> None:
        draft.set_line(self.table, entry.title, None)


def _describe(block: Values) -> tuple[str, str]:
    """Return the title and the rest of a line about a block."""
    places = ", ".join(show_countries(block.get("to")).splitlines())
    if len(places) > _LONGEST_ABOUT:
        places = f"{places[:_LONGEST_ABOUT]} …"
    ways = ", ".join(str(one) for one in as_list(block.get("methods")))
    if "rates" in block:
        return show_countries(block.get("country")), _count(block["rates"], "rates")
    if "name" not in block:
        days = [f"{one} {block[one]}" for one in ShippingMethod if one in block]
        return places, ", ".join(days)
    tracking = {True: "tracked", False: "untracked"}.get(block.get("tracked", ""), "")
    about = [places, ways, tracking, show_countries(block.get("country"))]
    return str(block["name"]), " · ".join(filter(None, about))


def _count(listed: object, noun: str) -> str:
    number = len(as_list(listed))
    words = {
        "countries": ("country", "countries"),
        "dates": ("day", "days"),
        "rates": ("rate", "rates"),
    }[noun]
    return f"{number} {words[number != 1]}"


PRODUCTS: Final = ProductPart(
    PartWords(
        key="products",
        title="Products",
        noun="product",
        lead="What you sell: its size, its price, its choices, and where it is sold to.",
        groups=PRODUCT_GROUPS,
    )
)
LABS: Final = BlockPart(
    PartWords(
        key="labs",
        title="Labs",
        noun="lab",
        lead="Who makes what, at what cost, and when.",
        groups=LAB_GROUPS,
    ),
    "labs",
)
SERVICES: Final = BlockPart(
    PartWords(
        key="services",
        title="Shipping services",
        noun="service",
        lead="How parcels leave the labs, and what that costs you.",
        groups=SERVICE_GROUPS,
    ),
    "services",
)
TARIFF: Final = BlockPart(
    PartWords(
        key="tariff",
        title="Shipping tariffs",
        noun="tariff",
        lead="What merchants pay for shipping, whichever lab and service is used.",
        groups=TARIFF_GROUPS,
    ),
    "tariff",
)
PROMISES: Final = BlockPart(
    PartWords(
        key="promises",
        title="Delivery promises",
        noun="promise",
        lead="By when a parcel arrives at the latest.",
        groups=PROMISE_GROUPS,
    ),
    "promises",
)
HOLIDAYS: Final = LinePart(
    PartWords(
        key="holidays",
        title="Holidays",
        noun="calendar",
        lead="Days on which labs do not work. A lab names its calendars.",
        groups=HOLIDAY_GROUPS,
    ),
    "holidays",
    "dates",
)
GROUPS: Final = LinePart(
    PartWords(
        key="groups",
        title="Groups of countries",
        noun="group",
        lead="Names for several countries, to sell and send to.",
        groups=GROUP_GROUPS,
    ),
    "groups",
    "countries",
)
TAXES: Final = BlockPart(
    PartWords(
        key="taxes",
        title="Tax rates",
        noun="country",
        lead="Rates of countries that differ from those built in, each from a day on.",
        groups=TAX_GROUPS,
    ),
    "taxes",
)
PARTS: Final[Mapping[str, Part]] = {
    part.words.key: part
    for part in (PRODUCTS, LABS, SERVICES, TARIFF, PROMISES, HOLIDAYS, GROUPS, TAXES)
}
