"""What differs between two catalogues, in words that an owner knows."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

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
# Equal to no value.
_NOTHING: Final = object()
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


def list_changes(before: Catalogue, after: Catalogue) -> Sequence[CatalogueChange]:
    """Return what differs, in the order of the catalogue."""
    if before.fingerprint == after.fingerprint:
        return ()
    # A catalogue is compared with few others: that in use, and the one before it.
    key = ("changes since", before.fingerprint)
    return after.remember(key, lambda: tuple(_list_changes(before, after)))


def _list_changes(before: Catalogue, after: Catalogue) -> Iterator[CatalogueChange]:
    for kind, list_things in _PARTS.items():
        yield from _compare_things(kind, list_things(before), list_things(after))


# Things by their names. They are described when they differ: most of them are the same.
_Things: TypeAlias = Mapping[str, Any]


def _list_products(catalogue: Catalogue) -> _Things:
    return {product.sku: product for product in catalogue.products}


def _list_labs(catalogue: Catalogue) -> _Things:
    return {lab.code: lab for lab in catalogue.labs}


def _list_services(catalogue: Catalogue) -> _Things:
    return {service.code: service for service in catalogue.services}


def _list_tariff(catalogue: Catalogue) -> _Things:
    rates: dict[str, Any] = {}
    countries = defaultdict[str, list[str]](list)
    for (country, _, _), offered in catalogue.tariff.rates.items():
        for rate in offered:
            tracking = "tracked" if rate.is_tracked else "untracked"
            name = f"{rate.name}, {rate.band} by {rate.method}, {tracking}"
            countries[name].append(country)
            rates.setdefault(name, rate)
    return {name: (rate, frozenset(countries[name])) for name, rate in rates.items()}


def _list_promises(catalogue: Catalogue) -> _Things:
    return {f"{promise.method} to {promise.to}": promise for promise in catalogue.promises.values()}


def _list_rest(catalogue: Catalogue) -> _Things:
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
    "product": _list_products,
    "lab": _list_labs,
    "service": _list_services,
    "tariff": _list_tariff,
    "promise": _list_promises,
    "catalogue": _list_rest,
}


def _compare_things(kind: str, before: _Things, after: _Things) -> Iterator[CatalogueChange]:
    for name in dict.fromkeys((*before, *after)):
        if name not in before:
            yield CatalogueChange(kind, name, "", "", name)
        elif name not in after:
            yield CatalogueChange(kind, name, "", name, "")
        elif (was := before[name]) != (is_now := after[name]):
            yield from _compare(kind, name, _describe(was, is_now), _describe(is_now, was))


def _describe(thing: Any, other: Any) -> Mapping[str, str]:
    """Return the parts of something that differ from those of another."""
    match thing:
        case (rate, countries):
            return {**_flatten(rate, other[0]), "to": _write(countries)}
        case msgspec.Struct():
            return _flatten(thing, other)
        case _:
            parts: Mapping[str, str] = thing
            return parts


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


def _flatten(thing: Any, other: Any = None) -> dict[str, str]:
    """Return the parts of something by their names; those inside a table have two words.

    What another one has just so is left out.
    """
    found: dict[str, str] = {}
    for name in thing.__struct_fields__:
        value, same = getattr(thing, name), getattr(other, name, _NOTHING)
        word, is_amount = _WORDS.get(name, name.replace("_", " ")), name in _AMOUNTS
        if isinstance(value, Mapping):
            alike = same if isinstance(same, Mapping) else {}
            for key, inner in value.items():
                if alike.get(key, _NOTHING) != inner:
                    found[f"{word} {_write(key)}"] = _write(inner, is_amount=is_amount)
        elif name not in _LEFT_OUT and value != same:
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
