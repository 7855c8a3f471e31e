"""The columns of a file of orders, and how its rows become orders."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from printworks.errors import BadInput
from printworks.rules.spreadsheets import SheetRow


class ImportColumn(NamedTuple):
    """A column: other names for it, what it means, and an example."""

    also: tuple[str, ...]
    meaning: str
    example: str
    is_required: bool = False


# By the names that the template has, in its order.
IMPORT_COLUMNS: Final[Mapping[str, ImportColumn]] = {
    "reference": ImportColumn(
        ("order", "ordernumber", "orderid", "merchantorderid", "yourreference"),
        "Your own number of the order. Rows with the same reference make one order with several "
        "images. Without one, every row is an order of its own.",
        "SHOP-1001",
    ),
    "recipient_name": ImportColumn(
        ("name", "recipient", "fullname", "shippingname"),
        "Who gets it.",
        "Mary Fox",
        is_required=True,
    ),
    "address1": ImportColumn(
        ("address", "street", "addressline1", "shippingaddress1"),
        "Street and number.",
        "12 Orchard Lane",
        is_required=True,
    ),
    "address2": ImportColumn(("addressline2", "shippingaddress2"), "Flat, floor, company.", ""),
    "town_or_city": ImportColumn(
        ("town", "city", "addresstownorcity", "shippingcity"),
        "Town or city.",
        "York",
        is_required=True,
    ),
    "state_or_county": ImportColumn(
        ("state", "county", "province", "region"), "State, county or province.", ""
    ),
    "postal_code": ImportColumn(
        ("postcode", "zip", "zipcode", "postalorzipcode", "shippingzip"),
        "Postcode, or - if there is none.",
        "YO1 7HH",
        is_required=True,
    ),
    "country": ImportColumn(
        ("countrycode", "destinationcountry", "shippingcountry"),
        "Two letters, such as GB, or the English name.",
        "GB",
        is_required=True,
    ),
    "email": ImportColumn(("mail", "emailaddress"), "Email address of the recipient.", ""),
    "telephone": ImportColumn(("phone", "phonenumber", "tel"), "For the carrier.", ""),
    "shipping_method": ImportColumn(
        ("shipping", "preferredshippingmethod", "method"),
        "Budget, Standard, Express or Overnight. Empty means Standard.",
        "Standard",
    ),
    "sku": ImportColumn(
        ("product", "productcode", "type", "lineitemsku"),
        "The product, by its code in the catalogue.",
        "GLOBAL-PHO-4X6-PRO",
        is_required=True,
    ),
    "image_url": ImportColumn(
        ("url", "image", "picture", "imageaddress", "fileurl"),
        "Where the picture can be downloaded.",
        "https://shop.example/pictures/1.jpg",
        is_required=True,
    ),
    "copies": ImportColumn(
        ("quantity", "qty", "lineitemquantity"), "How many. Empty means 1.", "1"
    ),
    "sizing": ImportColumn(
        ("fit",), "Crop, ShrinkToFit or ShrinkToExactFit. Empty means Crop.", "Crop"
    ),
    "attributes": ImportColumn(
        ("options", "choices"),
        "What can be chosen of the product, such as: colour=black; mount=white",
        "",
    ),
}

# Spelled by any of its names, without spaces and signs.
_NAMES: Final[Mapping[str, str]] = {
    spelling: name
    for name, column in IMPORT_COLUMNS.items()
    for spelling in (name.replace("_", ""), *column.also)
}


class ImportRow(NamedTuple):
    """A row of a file: what is in the columns that are known, and all its cells."""

    number: int
    values: Mapping[str, str]
    cells: Sequence[str]

    def value(self, column: str) -> str:
        """Return what a column says; nothing if the file does not have it."""
        return self.values.get(column, "")


class ImportFile(NamedTuple):
    """A file of orders: its heading, and its rows."""

    heads: Sequence[str]
    rows: Sequence[ImportRow]


def read_import(rows: Sequence[SheetRow]) -> ImportFile:
    """Find the columns of a table; refuse one that lacks those that every order needs."""
    if len(rows) < 2:
        raise BadInput(
            "The file has no orders. Its first row must have the names of the columns, and each "
            "row below is an image of an order."
        )
    heads = rows[0].cells
    places = _find_columns(heads)
    missing = [
        name for name, one in IMPORT_COLUMNS.items() if one.is_required and name not in places
    ]
    if missing:
        raise BadInput(
            f"The first row of the file has no column {_list_names(missing)}. Name the columns "
            "as the template does; their order does not matter."
        )
    return ImportFile(heads, [_read_row(row, places) for row in rows[1:]])


def _find_columns(heads: Sequence[str]) -> dict[str, int]:
    """Return where each column is, by its name; columns that nobody knows are left out."""
    places: dict[str, int] = {}
    for place, head in enumerate(heads):
        name = _NAMES.get("".join(filter(str.isalnum, head.casefold())))
        if name is None:
            continue
        if name in places:
            first = heads[places[name]]
            raise BadInput(
                f"The columns “{first}” and “{head}” mean the same ({name}). Remove one of them."
            )
        places[name] = place
    return places


def _list_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _read_row(row: SheetRow, places: Mapping[str, int]) -> ImportRow:
    values = {name: row.cells[place] for name, place in places.items() if place < len(row.cells)}
    return ImportRow(row.number, values, row.cells)


def group_rows(rows: Iterable[ImportRow]) -> list[list[ImportRow]]:
    """Return the rows of each order, in the order of the first: those with the same reference."""
    groups: dict[str, list[ImportRow]] = {}
    for row in rows:
        # A row without a reference is an order of its own.
        key = f"r {row.value('reference')}" if row.value("reference") else f"n {row.number}"
        groups.setdefault(key, []).append(row)
    return list(groups.values())
