"""Catalogues for tests: a valid one, of which a test changes what matters to it."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Final

import pytest

from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.snapshot import Catalogue

WORDS: Final = """\
currencies = ["GBP", "EUR"]
kinds = ["print", "canvas"]
bands = ["Prints", "Canvas"]

[groups]
ISLES = ["GB", "IE"]
"""

PRODUCT: Final = {
    "sku": '"PHOTO-4X6"',
    "type": '"4x6"',
    "kind": '"print"',
    "description": '"4x6 inch print"',
    "band": '"Prints"',
    "sold_to": '["ISLES"]',
    "image": '"4x6"',
    "price": "{ GBP = 20, EUR = 25 }",
}

FAMILY: Final = {
    "sku": '"PHOTO-{image}"',
    "type": '"{image}"',
    "kind": '"print"',
    "description": '"{image} inch print"',
    "band": '"Prints"',
    "sold_to": '["ISLES"]',
}

LAB: Final = {
    "code": '"hill"',
    "name": '"Hill"',
    "country": '"GB"',
    "time_zone": '"Europe/London"',
    "currency": '"GBP"',
    "cut_off": '"14:00"',
    "capacity": "100",
    "production_days": "2",
    "makes": '[\n    { kinds = ["print"], percent = 40 },\n]',
}

SERVICE: Final = {
    "code": '"post"',
    "name": '"Second class"',
    "carrier": '"RoyalMail"',
    "labs": '["hill"]',
    "methods": '["Budget", "Standard"]',
    "to": '["ISLES"]',
    "transit_days": "[2, 4]",
    "tracked": "false",
    "bands": "{ Prints = { items = 50, GBP = [199, 80], EUR = [240, 95] } }",
}

PROMISE: Final = {
    "to": '["everywhere"]',
    "Budget": "9",
    "Standard": "8",
    "Express": "5",
    "Overnight": "3",
}

TARIFF: Final = {
    "name": '"Post"',
    "to": '["everywhere"]',
    "methods": '["Budget", "Standard", "Express", "Overnight"]',
    "tracked": "false",
    "bands": "{ Prints = { items = 50, GBP = [299, 90], EUR = [340, 105] } }",
}

RATES: Final = """\
[rates]
GBP = 1
EUR = 0.85
"""


def a_product(**changed: str | None) -> str:
    """Write one product on lines of its own, the first of them the heading."""
    return _write("products", {**PRODUCT, **changed})


def a_lab(*makes: str, **changed: str | None) -> str:
    """Write one lab, with these lines of `makes` or the usual one; they are its last lines."""
    lines = {"makes": "".join(["[\n", *(f"    {line},\n" for line in makes), "]"])} if makes else {}
    return _write("labs", {**LAB, **lines, **changed})


def a_service(**changed: str | None) -> str:
    """Write one service."""
    return _write("services", {**SERVICE, **changed})


def a_promise(**changed: str | None) -> str:
    """Write one promise, for every method and everywhere."""
    return _write("promises", {**PROMISE, **changed})


def a_tariff(**changed: str | None) -> str:
    """Write what merchants pay for shipping prints everywhere, by every method."""
    return _write("tariff", {**TARIFF, **changed})


def a_family(columns: str, *rows: str, **changed: str | None) -> str:
    """Write a family; its rows are its last lines but one."""
    lines = [_write("products", {**FAMILY, **changed}), f"columns = [{columns}]\nrows = [\n"]
    return "".join([*lines, *(f"    [{row}],\n" for row in rows), "]\n"])


def a_folder(where: Path, *products: str, words: str = WORDS, **files: str) -> Path:
    """Write `words.toml`, `products.toml` and any other files into a folder."""
    folder = where / "catalogue"
    folder.mkdir()
    (folder / "words.toml").write_text(dedent(words), encoding="utf-8")
    (folder / "products.toml").write_text("".join(products), encoding="utf-8")
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(dedent(text), encoding="utf-8")
    return folder


def a_whole_folder(where: Path, *products: str, words: str = WORDS, **changed: str) -> Path:
    """Write a catalogue with a lab that makes what is sold, and a service that takes it away."""
    files = {
        "labs": a_lab(),
        "services": a_service(),
        "promises": a_promise(),
        "tariff": a_tariff(),
        "rates": RATES,
        **changed,
    }
    return a_folder(where, *(products or (a_product(),)), words=words, **files)


def problems_of(folder: Path) -> list[str]:
    """Load a catalogue that must be wrong, and return what is wrong with it."""
    with pytest.raises(BadCatalogue) as caught:
        Catalogue.load(folder)
    return [str(problem) for problem in caught.value.problems]


def _write(table: str, keys: Mapping[str, str | None]) -> str:
    lines = [f"{key} = {value}\n" for key, value in keys.items() if value is not None]
    return "".join([f"[[{table}]]\n", *lines])
