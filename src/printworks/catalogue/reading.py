"""Reads the files of a catalogue, and checks everything that can be checked by itself.

File names do not matter: each key of `CatalogueForm` may be in any file.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, Final

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.families import ProductFamily
from printworks.catalogue.form_reading import INVALID, FormReader, ValueType, fill, list_fields
from printworks.catalogue.forms import CatalogueForm
from printworks.catalogue.problems import Place
from printworks.catalogue.products import Product, QualityLevel
from printworks.catalogue.sources import CatalogueFiles
from printworks.catalogue.values import EVERYWHERE, Code

_CODE: Final = ValueType.of(Code)


def read_files(files: CatalogueFiles) -> tuple[CatalogueForm, dict[Place, Product]]:
    """Return the content of the files, and the products by place; raise `BadCatalogue`."""
    values, sold = _read(files)
    files.check()
    return fill(CatalogueForm, values), sold


def read_products(files: CatalogueFiles) -> list[Product]:
    """Return the products that can be read, whatever else is wrong."""
    return list(_read(files)[1].values())


def _read(files: CatalogueFiles) -> tuple[dict[str, Any], dict[Place, Product]]:
    reader = FormReader({}, files.report)
    values = _read_values(files, reader)
    entries = [
        entry
        for position, content in enumerate(values.get("products", ()))
        for entry in ProductFamily(content, ("products", position), reader).read()
    ]
    files.check_once((entry.sku, entry.place) for entry in entries if entry.sku)
    sold = {entry.place: entry.product for entry in entries if entry.product}
    for place, sentence in _find_clashes(sold):
        files.report(place, sentence)
    return values, sold


def _read_values(files: CatalogueFiles, reader: FormReader) -> dict[str, Any]:
    known = reader.known
    tables = {"groups": {EVERYWHERE: frozenset(COUNTRIES)}, "holidays": {}, "rates": {}}
    # Groups that could be read are used even if others could not be.
    known.update(tables, some_groups=tables["groups"])
    labs, services = list(_find_codes(files, "labs")), list(_find_codes(files, "services"))
    for codes in (labs, services):
        files.check_once((code, place) for code, place in codes if code is not INVALID)
    if files.is_whole and all(code is not INVALID for code, _ in labs):
        known["labs"] = [code for code, _ in labs]
    values = reader.find_defaults(CatalogueForm, files.content, ())
    # In the order of the form, because values refer to keys before theirs.
    for key in dict.fromkeys((*list_fields(CatalogueForm), *files.content)):
        if key in files.content:
            values |= reader.read_given(CatalogueForm, {key: files.content[key]}, ())
        # If a file could not be read, a list is known, because it is in one file, but a table is not.
        if isinstance(values.get(key), tuple) and (files.is_whole or key in files.content):
            known[key] = values[key]
        elif key in tables and not (files.is_whole and key in values):
            del known[key]
    return values


def _find_codes(files: CatalogueFiles, table: str) -> Iterator[tuple[Any, Place]]:
    # Invalid codes are reported when their blocks are read.
    reader = FormReader({}, lambda _, __: None)
    blocks = files.content.get(table, [])
    for position, block in enumerate(blocks if isinstance(blocks, list) else [blocks]):
        place = (table, position, "code")
        code = block.get("code") if isinstance(block, dict) else None
        yield reader.read(_CODE, code, place), place


def _find_clashes(sold: Mapping[Place, Product]) -> Iterator[tuple[Place, str]]:
    seen: dict[tuple[str, QualityLevel], list[Product]] = defaultdict(list)
    for place, product in sold.items():
        for name, quality in itertools.product(product.type_names, product.quality_levels):
            for other in seen[name.casefold(), quality]:
                both = product.sold_to & other.sold_to
                # A duplicate sku is reported already.
                if both and other.sku.casefold() != product.sku.casefold():
                    yield (
                        place,
                        f"`{product.sku}` and `{other.sku}` are both of type `{name}` "
                        f"in {quality} for {min(both)}.",
                    )
            seen[name.casefold(), quality].append(product)
