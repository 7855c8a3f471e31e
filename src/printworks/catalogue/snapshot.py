"""The catalogue as one immutable snapshot, and the ways to look something up in it."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Self

import msgspec

from printworks.catalogue.products import Currency, Product, QualityLevel
from printworks.catalogue.reading import Contents, read_folder
from printworks.errors import BadInput

DEFAULT_FOLDER: Final = Path(__file__).parent / "data" / "default"


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that is sold. Make one with `Catalogue.load` and keep it."""

    products: tuple[Product, ...]
    currencies: tuple[Currency, ...]
    kinds: tuple[str, ...]
    bands: tuple[str, ...]
    _by_sku: Mapping[str, Product]
    _by_type: Mapping[tuple[str, QualityLevel], tuple[Product, ...]]

    @classmethod
    def load(cls, folder: Path = DEFAULT_FOLDER) -> Self:
        """Read a folder of TOML files; raise `BadCatalogue` with every problem in it."""
        return cls._of(read_folder(folder))

    @classmethod
    def _of(cls, contents: Contents) -> Self:
        by_type: dict[tuple[str, QualityLevel], list[Product]] = defaultdict(list)
        for product in contents.products:
            for name in product.type_names:
                for quality in product.quality_levels:
                    by_type[name.casefold(), quality].append(product)
        return cls(
            products=contents.products,
            currencies=contents.vocabulary.currencies or (),
            kinds=contents.vocabulary.kinds or (),
            bands=contents.vocabulary.bands or (),
            _by_sku={product.sku.casefold(): product for product in contents.products},
            _by_type={key: tuple(found) for key, found in by_type.items()},
        )

    def find_product(self, sku: str) -> Product | None:
        """Return the product with this sku, written in capitals or not, or None."""
        return self._by_sku.get(sku.casefold())

    def get_product(self, sku: str) -> Product:
        """Return the product with this sku, or raise `BadInput`."""
        product = self.find_product(sku)
        if product is None:
            message = "SKU not in catalogue"
            raise BadInput(message)
        return product

    def find_type(self, name: str, *, quality: QualityLevel, country: str) -> Product | None:
        """Return the product of this type that is offered in this quality and country."""
        offered = self._by_type.get((name.casefold(), quality), ())
        return next((product for product in offered if product.is_sold_to(country)), None)

    def list_sold_to(
        self, country: str, *, quality: QualityLevel | None = None
    ) -> tuple[Product, ...]:
        """List what is sold to a country, in one quality level or in any."""
        return tuple(
            product
            for product in self.products
            if product.is_sold_to(country)
            and (quality is None or quality in product.quality_levels)
        )
