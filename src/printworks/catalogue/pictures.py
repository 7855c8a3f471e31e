"""Photographs of products: the files beside those of a catalogue."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from printworks.catalogue.problems import Place
from printworks.catalogue.products import Product
from printworks.catalogue.sources import CatalogueFiles

# The folder with the pictures, beside the TOML files.
PICTURES: Final = "pictures"


def check_pictures(sold: Mapping[Place, Product], folder: Path, files: CatalogueFiles) -> None:
    """Report pictures that are not in the folder."""
    for place, product in sold.items():
        if product.picture and not (folder / PICTURES / product.picture).is_file():
            files.report(place, f"The picture `{PICTURES}/{product.picture}` does not exist.")


def list_pictures(products: Collection[Product]) -> list[str]:
    """Return the names of the pictures that products have."""
    return sorted({product.picture for product in products if product.picture})
