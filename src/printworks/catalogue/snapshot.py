"""The catalogue as one immutable snapshot, and the ways to look something up in it."""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Final, Self

import msgspec

from printworks.catalogue.fulfilment import group_by_lab
from printworks.catalogue.labs import Lab
from printworks.catalogue.products import Currency, Product, QualityLevel
from printworks.catalogue.promises import Promise
from printworks.catalogue.rates import Rates, convert
from printworks.catalogue.reading import Contents, read_folder
from printworks.catalogue.services import Service
from printworks.errors import BadInput, NotFound
from printworks.rules.orders import ShippingMethod

DEFAULT_FOLDER: Final = Path(__file__).parent / "data" / "default"


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that is sold, made and sent. Make one with `Catalogue.load` and keep it."""

    products: tuple[Product, ...]
    currencies: tuple[Currency, ...]
    kinds: tuple[str, ...]
    bands: tuple[str, ...]
    labs: tuple[Lab, ...]
    services: tuple[Service, ...]
    # The one that counts, by method and country.
    promises: Mapping[tuple[ShippingMethod, str], Promise]
    rates: Rates
    _by_sku: Mapping[str, Product]
    _by_type: Mapping[tuple[str, QualityLevel], tuple[Product, ...]]
    _labs_by_code: Mapping[str, Lab]
    _services_by_lab: Mapping[str, tuple[Service, ...]]

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
        fulfilment = contents.fulfilment
        return cls(
            products=contents.products,
            currencies=contents.vocabulary.currencies or (),
            kinds=contents.vocabulary.kinds or (),
            bands=contents.vocabulary.bands or (),
            labs=fulfilment.labs,
            services=fulfilment.services,
            promises=MappingProxyType(fulfilment.promises),
            rates=MappingProxyType(fulfilment.rates),
            _by_sku={product.sku.casefold(): product for product in contents.products},
            _by_type={key: tuple(found) for key, found in by_type.items()},
            _labs_by_code={lab.code: lab for lab in fulfilment.labs},
            _services_by_lab=group_by_lab(fulfilment.services),
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

    def find_lab(self, code: str) -> Lab | None:
        """Return the lab with this code, or None."""
        return self._labs_by_code.get(code)

    def get_lab(self, code: str) -> Lab:
        """Return the lab with this code, or raise `NotFound`."""
        lab = self.find_lab(code)
        if lab is None:
            message = f"There is no lab {code} in the catalogue."
            raise NotFound(message)
        return lab

    def list_services(self, lab_code: str, country: str) -> tuple[Service, ...]:
        """List the services from a lab to a destination country, as they stand in the files."""
        leaving = self._services_by_lab.get(lab_code, ())
        return tuple(service for service in leaving if service.goes_to(country))

    def find_promise(self, method: ShippingMethod, country: str) -> Promise | None:
        """Return what is promised; None for no country of ours, or in a catalogue without labs."""
        return self.promises.get((method, country.upper()))

    def convert(self, amount: int | Fraction, currency: Currency, *, to: Currency) -> Fraction:
        """Return an amount in another currency, exactly, to compare costs with and no more."""
        return convert(amount, currency, to, self.rates)
