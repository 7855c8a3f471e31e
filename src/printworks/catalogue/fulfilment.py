"""Labs, services, promises and rates: whether they fit each other and what is sold."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from printworks.catalogue.families import Entry
from printworks.catalogue.lab_reading import LabEntry, build_lab, read_labs
from printworks.catalogue.labs import Lab
from printworks.catalogue.problems import Problems, list_some
from printworks.catalogue.products import Product
from printworks.catalogue.promise_reading import PromiseEntry, Promises, read_promises, resolve
from printworks.catalogue.rates import Rates, read_rates
from printworks.catalogue.service_reading import ServiceEntry, read_services
from printworks.catalogue.services import Service
from printworks.catalogue.sources import Source
from printworks.catalogue.values import Vocabulary


class Fulfilment(NamedTuple):
    """How what is sold is made and sent."""

    labs: tuple[Lab, ...]
    services: tuple[Service, ...]
    promises: Promises
    rates: Rates


class Written(NamedTuple):
    """What the files say about it, each thing right by itself."""

    labs: tuple[LabEntry, ...]
    services: tuple[ServiceEntry, ...]
    promises: tuple[PromiseEntry, ...]
    rates: Rates


def read_fulfilment(
    sources: Sequence[Source], known: Vocabulary, problems: Problems, *, is_whole: bool
) -> Written:
    """Read everything; `is_whole` says that no file of the folder failed."""
    labs = read_labs(sources, known, problems, is_whole=is_whole)
    return Written(
        labs.entries,
        tuple(read_services(sources, known, labs.codes, problems)),
        tuple(read_promises(sources, known, problems)),
        read_rates(sources, known, problems),
    )


def join(
    written: Written, sold: Sequence[Entry], known: Vocabulary, problems: Problems
) -> Fulfilment:
    """Put together what is right by itself; report what does not fit.

    A catalogue without labs is one for looking at, and needs nothing of all this.
    """
    places = [(entry.product, entry) for entry in sold if entry.product]
    products = [product for product, _ in places]
    labs = tuple(build_lab(entry, products, problems) for entry in written.labs)
    services = tuple(entry.service for entry in written.services)
    promises = resolve(written.promises, problems)
    if written.labs:
        _check_together(written, known, problems)
        for entry, sentence in _find_unreachable(places, labs, services):
            problems.add(entry.block.source.name, entry.line, sentence)
    only = known.currencies or ()
    rates = {only[0]: Decimal(1)} if len(only) == 1 else written.rates
    return Fulfilment(labs, services, promises, rates)


def _check_together(written: Written, known: Vocabulary, problems: Problems) -> None:
    left = {code for entry in written.services for code in entry.service.labs}
    for entry in written.labs:
        code = entry.values["code"]
        if code not in left:
            sentence = f"No service leaves from `{code}`."
            problems.add(entry.block.source.name, entry.block.line_of("code"), sentence)
    first = written.labs[0].block
    if not written.promises:
        problems.add(first.source.name, first.start, "There are labs, but no `[[promises]]`.")
    currencies = known.currencies or ()
    missing = [currency for currency in currencies if currency not in written.rates]
    if missing and len(currencies) > 1:
        sentence = f"There are labs, but `rates` has no line for {', '.join(missing)}."
        problems.add(first.source.name, first.start, sentence)


def _find_unreachable(
    places: Sequence[tuple[Product, Entry]], labs: Sequence[Lab], services: Sequence[Service]
) -> Iterator[tuple[Entry, str]]:
    reached: dict[tuple[frozenset[str], str], frozenset[str]] = {}
    # Products of a family share their answer.
    missing: dict[tuple[frozenset[str], str, frozenset[str]], list[str]] = {}
    for product, entry in places:
        makers = frozenset(lab.code for lab in labs if lab.can_make(product))
        if not makers:
            yield entry, f"`{product.sku}` is made by no lab."
            continue
        ways = (makers, product.shipping_band)
        if ways not in reached:
            reached[ways] = _find_reach(services, product, makers)
        key = (*ways, product.sold_to)
        if key not in missing:
            missing[key] = sorted(product.sold_to - reached[ways])
        if missing[key]:
            sentence = (
                f"`{product.sku}` is sold to {list_some(missing[key])}, where no service takes it "
                "from a lab that makes it."
            )
            yield entry, sentence


def _find_reach(
    services: Sequence[Service], product: Product, makers: frozenset[str]
) -> frozenset[str]:
    return frozenset().union(
        *(
            service.countries
            for service in services
            if product.shipping_band in service.bands and makers.intersection(service.labs)
        )
    )


def group_by_lab(services: Sequence[Service]) -> Mapping[str, tuple[Service, ...]]:
    """Return the services that leave from each lab."""
    codes = dict.fromkeys(code for service in services for code in service.labs)
    return {code: tuple(service for service in services if code in service.labs) for code in codes}
