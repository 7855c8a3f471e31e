"""The catalogue as one immutable snapshot, and the ways to look something up in it."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self, TypeVar

import msgspec

from printworks.catalogue.fulfilment import (
    build_labs,
    build_service,
    check_reach,
    check_together,
    choose_promises,
)
from printworks.catalogue.labs import Lab
from printworks.catalogue.pictures import check_pictures
from printworks.catalogue.pricing import (
    build_tariff,
    check_prices,
    check_tracking,
    choose_rates,
)
from printworks.catalogue.products import Currency, Product, QualityLevel
from printworks.catalogue.promises import Promise
from printworks.catalogue.reading import read_files
from printworks.catalogue.services import Service
from printworks.catalogue.sources import CatalogueFiles
from printworks.catalogue.tariff import ShippingRate, Tariff
from printworks.catalogue.taxes import build_taxes
from printworks.errors import BadInput, NotFound
from printworks.rules.orders import ShippingMethod
from printworks.rules.tax_table import TaxTable

T = TypeVar("T")

DEFAULT_FOLDER: Final = Path(__file__).parent / "data" / "default"


class Catalogue(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Everything that is sold, made and sent. Make one with `Catalogue.load` and keep it."""

    products: tuple[Product, ...]
    currencies: tuple[Currency, ...]
    kinds: tuple[str, ...]
    bands: tuple[str, ...]
    labs: tuple[Lab, ...]
    services: tuple[Service, ...]
    # What merchants pay for shipping.
    tariff: Tariff
    # The one that counts, by method and country.
    promises: Mapping[tuple[ShippingMethod, str], Promise]
    # The value of one unit, for comparing costs. Nothing is charged at these rates.
    rates: Mapping[Currency, Decimal]
    # The rates of tax that sellers charge.
    taxes: TaxTable
    # Of the text of its files: two catalogues with the same one are the same.
    fingerprint: str
    # The files from which it was read, by their names.
    texts: Mapping[str, str]
    _by_sku: Mapping[str, Product]
    _by_type: Mapping[tuple[str, QualityLevel], tuple[Product, ...]]
    _labs_by_code: Mapping[str, Lab]
    _services_by_lab: Mapping[str, tuple[Service, ...]]
    _remembered: dict[Hashable, Any] = msgspec.field(default_factory=dict)

    @classmethod
    def load(cls, given: Path | Mapping[str, str] = DEFAULT_FOLDER) -> Self:
        """Read a folder of TOML files, or texts by the names of their files.

        Raise `BadCatalogue` with every problem in them.
        """
        files = CatalogueFiles(given)
        form, sold = read_files(files)
        products = tuple(sold.values())
        labs = tuple(build_labs(form.labs, products, files))
        services = tuple(map(build_service, form.services))
        promises = choose_promises(form.promises, files)
        rates_by_zone = choose_rates(form.tariff, files)
        # A catalogue without labs can be browsed, but nothing can be ordered.
        if labs:
            check_together(form, files)
            check_reach(sold, labs, services, files)
        if labs and form.tariff:
            check_prices(products, rates_by_zone, files)
            check_tracking(products, labs, services, rates_by_zone, files)
        if isinstance(given, Path):
            check_pictures(sold, given, files)
        files.check()
        is_single = len(form.currencies) == 1
        rates = dict.fromkeys(form.currencies, Decimal(1)) if is_single else form.rates
        return cls(
            products=products,
            currencies=form.currencies,
            kinds=form.kinds,
            bands=form.bands,
            labs=labs,
            services=services,
            tariff=build_tariff(rates_by_zone),
            promises=MappingProxyType(promises),
            rates=MappingProxyType(rates),
            taxes=build_taxes(form.taxes),
            fingerprint=files.fingerprint,
            texts=files.texts,
            _by_sku={product.sku.casefold(): product for product in products},
            _by_type=_group_by_type(products),
            _labs_by_code={lab.code: lab for lab in labs},
            _services_by_lab=_group_by_lab(services),
        )

    @property
    def transit_days(self) -> dict[str, int]:
        """How long each shipping service takes at most, by its code."""
        return {service.code: service.max_transit_days for service in self.services}

    def find_product(self, sku: str) -> Product | None:
        """Return the product with this sku, in any case and with blanks around it, or None."""
        return self._by_sku.get(sku.strip().casefold())

    def get_product(self, sku: str) -> Product:
        """Return the product with this sku, or raise `BadInput`."""
        product = self.find_product(sku)
        if product is None:
            raise BadInput("SKU not in catalogue")
        return product

    def find_type(self, name: str, *, quality: QualityLevel, country: str) -> Product | None:
        """Return the product of this type that is offered in this quality and country."""
        offered = self._by_type.get((name.strip().casefold(), quality), ())
        return next((product for product in offered if product.is_sold_to(country)), None)

    def resolve_type(
        self, name: str, *, quality: QualityLevel | None, country: str
    ) -> Product | None:
        """Return what a type means in a country's catalogue, in this quality or in the best."""
        qualities = [quality] if quality else list(QualityLevel)
        found = (self.find_type(name, quality=level, country=country) for level in qualities)
        return next((product for product in found if product is not None), None)

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
        return self._labs_by_code.get(code)

    def get_lab(self, code: str) -> Lab:
        """Return the lab with this code, or raise `NotFound`."""
        lab = self.find_lab(code)
        if lab is None:
            raise NotFound(f"There is no lab {code} in the catalogue.")
        return lab

    def list_services(self, lab_code: str, country: str) -> tuple[Service, ...]:
        """List the services from a lab to a destination country, as they stand in the files."""
        leaving = self._services_by_lab.get(lab_code, ())
        return tuple(service for service in leaving if service.goes_to(country))

    def has_service(self, code: str, *, lab_code: str, country: str) -> bool:
        """Whether a service goes from a lab to a destination country."""
        leaving = self._services_by_lab.get(lab_code, ())
        return any(service.code == code and service.goes_to(country) for service in leaving)

    def list_rates(
        self, country: str, sold: Iterable[Product], methods: Collection[ShippingMethod]
    ) -> list[ShippingRate]:
        """List what may be charged for shipping some products to a country."""
        wanted = {product.shipping_band for product in sold}
        bands = [band for band in self.bands if band in wanted]
        return list(self.tariff.list_rates(country, bands, methods))

    def find_promise(self, method: ShippingMethod, country: str) -> Promise | None:
        """Return what is promised; None for no country of ours, or in a catalogue without labs."""
        return self.promises.get((method, country.upper()))

    def convert(self, amount: int | Fraction, currency: Currency, *, to: Currency) -> Fraction:
        """Return an amount in another currency, exactly, to compare costs with and no more."""
        return amount * self.find_exchange_rate(currency, to=to)

    def find_exchange_rate(self, currency: Currency, *, to: Currency) -> Fraction:
        """Return what one minor unit is worth in another currency, exactly."""
        if currency is to:
            return Fraction(1)
        # All four currencies have a hundred minor units.
        return Fraction(self.rates[currency]) / Fraction(self.rates[to])

    def remember(self, key: Hashable, calculate: Callable[[], T]) -> T:
        """Return what was calculated from this snapshot under a key; calculate it once.

        There must be few keys: nothing is ever forgotten.
        """
        if key not in self._remembered:
            # Two threads may both calculate it: it is the same.
            self._remembered[key] = calculate()
        found: T = self._remembered[key]
        return found


def _group_by_type(
    products: Sequence[Product],
) -> Mapping[tuple[str, QualityLevel], tuple[Product, ...]]:
    found: dict[tuple[str, QualityLevel], list[Product]] = defaultdict(list)
    for product in products:
        for name, quality in itertools.product(product.type_names, product.quality_levels):
            found[name.casefold(), quality].append(product)
    return {key: tuple(products) for key, products in found.items()}


def _group_by_lab(services: Sequence[Service]) -> Mapping[str, tuple[Service, ...]]:
    codes = dict.fromkeys(code for service in services for code in service.labs)
    return {code: tuple(service for service in services if code in service.labs) for code in codes}
