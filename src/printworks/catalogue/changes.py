"""What differs between two catalogues, in words that an owner knows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from printworks.catalogue.snapshot import Catalogue

# What owners call the parts of a product, a lab, a service or a rate.
_WORDS: Final[Mapping[str, str]] = {
    "base_prices": "price",
    "prices_by_country": "price",
    "shipping_band": "band",
    "type_name": "type",
    "makes": "product",
    "steps": "price",
    "costs": "cost",
}
# Amounts in minor units; all currencies have a hundred.
_AMOUNTS: Final = frozenset({"base_prices", "prices_by_country", "cost", "first", "further"})
# Calculated from others.
_LEFT_OUT: Final = frozenset({"hours"})
_PICTURE: Final = "picture"
# Longer values are cut down to the words that differ.
_LONGEST: Final = 60


class CatalogueChange(NamedTuple):
    """One difference: something was added, removed, or has another value."""

    # Such as "product".
    kind: str
    # Which of them, such as its sku.
    name: str
    # What of it, such as "price GBP"; empty if it was added or removed as a whole.
    part: str
    # Empty if there was nothing before, or nothing is left.
    before: str
    after: str

    def __str__(self) -> str:
        thing = f"{self.kind} {self.name}".rstrip()
        if self.part == _PICTURE:
            done = "changed" if self.before and self.after else "added" if self.after else "removed"
            return f"{thing}: picture {done}"
        if not self.part:
            return f"{thing}: {'added' if self.after else 'removed'}"
        return f"{thing}, {self.part}: {self.before or 'nothing'} → {self.after or 'nothing'}"


def list_changes(before: Catalogue, after: Catalogue) -> list[CatalogueChange]:
    """Return what differs, in the order of the catalogue."""
    if before.fingerprint == after.fingerprint:
        return []
    return [
        change
        for kind, describe in _PARTS.items()
        for change in _compare_things(kind, describe(before), describe(after))
    ]


def _describe_products(catalogue: Catalogue) -> dict[str, dict[str, str]]:
    return {product.sku: _flatten(product) for product in catalogue.products}


def _describe_labs(catalogue: Catalogue) -> dict[str, dict[str, str]]:
    return {lab.code: _flatten(lab) for lab in catalogue.labs}


def _describe_services(catalogue: Catalogue) -> dict[str, dict[str, str]]:
    return {service.code: _flatten(service) for service in catalogue.services}


def _describe_tariff(catalogue: Catalogue) -> dict[str, dict[str, str]]:
    rates: dict[str, dict[str, str]] = {}
    countries = defaultdict[str, list[str]](list)
    for (country, _, _), offered in catalogue.tariff.rates.items():
        for rate in offered:
            tracking = "tracked" if rate.is_tracked else "untracked"
            name = f"{rate.name}, {rate.band} by {rate.method}, {tracking}"
            countries[name].append(country)
            if name not in rates:
                rates[name] = _flatten(rate)
    return {
        name: {**parts, "to": _write(frozenset(countries[name]))} for name, parts in rates.items()
    }


def _describe_promises(catalogue: Catalogue) -> dict[str, dict[str, str]]:
    return {
        f"{promise.method} to {promise.to}": _flatten(promise)
        for promise in catalogue.promises.values()
    }


def _describe_rest(catalogue: Catalogue) -> dict[str, dict[str, str]]:
    rates = (f"{one} {rate}" for one, rate in catalogue.rates.items())
    return {
        "": {
            "currencies": _write(catalogue.currencies),
            "kinds": _write(catalogue.kinds),
            "bands": _write(catalogue.bands),
            "exchange rates": ", ".join(rates),
        }
    }


_PARTS: Final = {
    "product": _describe_products,
    "lab": _describe_labs,
    "service": _describe_services,
    "tariff": _describe_tariff,
    "promise": _describe_promises,
    "catalogue": _describe_rest,
}


def _compare_things(
    kind: str, before: Mapping[str, Mapping[str, str]], after: Mapping[str, Mapping[str, str]]
) -> Iterator[CatalogueChange]:
    for name in dict.fromkeys((*before, *after)):
        if name not in before:
            yield CatalogueChange(kind, name, "", "", name)
        elif name not in after:
            yield CatalogueChange(kind, name, "", name, "")
        else:
            yield from _compare(kind, name, before[name], after[name])


def _compare(
    kind: str, name: str, before: Mapping[str, str], after: Mapping[str, str]
) -> Iterator[CatalogueChange]:
    for part in dict.fromkeys((*before, *after)):
        was, is_now = before.get(part, ""), after.get(part, "")
        if was != is_now and part == _PICTURE:
            # The names of its files, which end with a hash, say nothing to anybody.
            new = "another picture" if was else "a picture"
            yield CatalogueChange(kind, name, part, was and "a picture", is_now and new)
        elif was != is_now:
            yield CatalogueChange(kind, name, part, _cut(was, is_now), _cut(is_now, was))


def _cut(text: str, other: str) -> str:
    """Return a value; of a long one, only the words that the other has not."""
    if len(text) <= _LONGEST:
        return text
    known = set(other.split())
    words = [word for word in text.split() if word not in known]
    cut = " ".join(words)
    return f"… {cut[:_LONGEST]}{' …' if len(cut) > _LONGEST else ''}".rstrip()


def _flatten(thing: Any) -> dict[str, str]:
    """Return the parts of something by their names; those inside a table have two words."""
    found: dict[str, str] = {}
    for name in thing.__struct_fields__:
        value, word = getattr(thing, name), _WORDS.get(name, name.replace("_", " "))
        is_amount = name in _AMOUNTS
        if isinstance(value, Mapping):
            for key, inner in value.items():
                found[f"{word} {_write(key)}"] = _write(inner, is_amount=is_amount)
        elif name not in _LEFT_OUT:
            found[word] = _write(value, is_amount=is_amount)
    return found


def _write(value: Any, *, is_amount: bool = False) -> str:
    match value:
        case None:
            text = ""
        case bool():
            text = "yes" if value else "no"
        case int() if is_amount:
            text = f"{value / 100:.2f}"
        case frozenset():
            text = " ".join(sorted(map(_write, value)))
        case tuple():
            text = " ".join(map(_write, value))
        case msgspec.Struct():
            text = ", ".join(_write_parts(_flatten(value).items()))
        case _:
            text = str(value)
    return text


def _write_parts(parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (f"{word} {text}" for word, text in parts if text)
