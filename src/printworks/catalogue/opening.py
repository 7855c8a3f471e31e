"""Opens catalogues: the one that the settings name, and those of versions."""

from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from printworks.catalogue.products import Product
from printworks.catalogue.reading import read_products
from printworks.catalogue.snapshot import DEFAULT_FOLDER, Catalogue
from printworks.catalogue.sources import CatalogueFiles

# Whoever looks at a version compares it with another; each takes a third of a second to read.
_KEPT: Final = 4


@cache
def open_catalogue(folder: Path | None) -> Catalogue:
    """Return the catalogue in a folder, or the one that is built in; read once by a process."""
    return Catalogue.load(folder or DEFAULT_FOLDER)


def read_catalogue(texts: Mapping[str, str]) -> Catalogue:
    """Return the catalogue of texts by the names of their files; the last few are kept.

    Raise `BadCatalogue` with every problem in them.
    """
    return _read(tuple(sorted(texts.items())))


def read_drawable(texts: Mapping[str, str]) -> Mapping[str, Product]:
    """Return the products of a draft that can be read, by their skus; the last few are kept."""
    return _read_products(tuple(sorted(texts.items())))


@lru_cache(_KEPT)
def _read_products(texts: tuple[tuple[str, str], ...]) -> Mapping[str, Product]:
    return {product.sku: product for product in read_products(CatalogueFiles(dict(texts)))}


@lru_cache(_KEPT)
def _read(texts: tuple[tuple[str, str], ...]) -> Catalogue:
    return Catalogue.load(dict(texts))
