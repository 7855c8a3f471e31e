"""Price lists: made, changed, assigned to merchants, suspended and ended. Every change is kept."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from printworks.actions.work import SystemWork
from printworks.errors import BadInput, WrongState
from printworks.rules.price_list_reading import (
    MOST_LINES,
    Sold,
    check_validity,
    read_lines,
    read_name,
)
from printworks.rules.price_lists import PriceLine, PriceList, check_not_ended
from printworks.rules.spreadsheets import read_table
from printworks.store.accounts.merchants import Merchant
from printworks.store.money import price_lists as store
from printworks.store.money.price_lists import MerchantGroup


class ListTerms(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator says about a list, apart from its lines."""

    name: str
    percent_off: int = 0
    # None is from now on.
    valid_from: datetime | None = None
    valid_until: datetime | None = None


def add_list(system: SystemWork, terms: ListTerms) -> PriceList:
    """Add a list that is not assigned yet."""
    begin = terms.valid_from or system.real_now
    check_validity(begin, terms.valid_until)
    new = PriceList(
        name=read_name(terms.name),
        percent_off=terms.percent_off,
        valid_from=begin,
        valid_until=terms.valid_until,
        revision=store.take_revision(system.db),
    )
    added = store.insert_list(system.db, new, now=system.real_now)
    _keep(system, added, "add-prices")
    return added


def change_list(
    system: SystemWork, list_id: int, terms: ListTerms, *, seen: int | None = None
) -> PriceList:
    """Give a list another name, percentage or time; `seen` is the revision that was looked at."""
    found = _get_to_change(system, list_id, seen)
    begin = terms.valid_from or found.valid_from
    check_validity(begin, terms.valid_until)
    return _change(
        system,
        found,
        "change-prices",
        name=read_name(terms.name),
        percent_off=terms.percent_off,
        valid_from=begin,
        valid_until=terms.valid_until,
    )


def import_lines(
    system: SystemWork, list_id: int, content: bytes, *, seen: int | None = None
) -> PriceList:
    """Replace the lines of a list by those of a CSV file."""
    rows = read_table(content, most_rows=MOST_LINES)
    return set_lines(system, list_id, read_lines(rows, find_sold(system)), seen=seen)


def set_lines(
    system: SystemWork, list_id: int, lines: Sequence[PriceLine], *, seen: int | None = None
) -> PriceList:
    """Replace the lines of a list."""
    found = _get_to_change(system, list_id, seen)
    return _change(system, found, "import-prices", lines=tuple(lines))


def find_sold(system: SystemWork) -> Sold:
    """Return what a list can be about."""
    catalogue = system.catalogue

    def find_sku(text: str) -> str | None:
        product = catalogue.find_product(text)
        return None if product is None else product.sku

    return Sold(find_sku, [str(currency) for currency in catalogue.currencies])


def assign_to_merchant(system: SystemWork, list_id: int, merchant: Merchant) -> PriceList:
    """Assign a list to one merchant, and to nobody else."""
    found = _get_to_change(system, list_id)
    return _change(system, found, "assign-prices", merchant_id=merchant.id, group_id=None)


def assign_to_group(system: SystemWork, list_id: int, group: MerchantGroup) -> PriceList:
    """Assign a list to a group, and to nobody else."""
    found = _get_to_change(system, list_id)
    return _change(system, found, "assign-prices", merchant_id=None, group_id=group.id)


def take_away(system: SystemWork, list_id: int) -> PriceList:
    """Assign a list to nobody."""
    found = _get_to_change(system, list_id)
    return _change(system, found, "assign-prices", merchant_id=None, group_id=None)


def suspend_list(system: SystemWork, list_id: int) -> PriceList:
    """Do not use a list until it is resumed."""
    found = _get_to_change(system, list_id)
    if found.is_suspended:
        raise WrongState("This list is suspended already.")
    return _change(system, found, "suspend-prices", is_suspended=True)


def resume_list(system: SystemWork, list_id: int) -> PriceList:
    """Use a suspended list again."""
    found = _get_to_change(system, list_id)
    if not found.is_suspended:
        raise WrongState("This list is not suspended.")
    return _change(system, found, "resume-prices", is_suspended=False)


def end_list(system: SystemWork, list_id: int) -> PriceList:
    """End a list now, for good; orders that are quoted keep their prices until those expire."""
    found = _get_to_change(system, list_id)
    # A list that has not begun is never used.
    begin = min(found.valid_from, system.real_now)
    return _change(system, found, "end-prices", valid_from=begin, valid_until=system.real_now)


def add_group(system: SystemWork, name: str) -> MerchantGroup:
    """Add a group of merchants that will have price lists together."""
    name = read_name(name, "group")
    if store.find_group(system.db, name) is not None:
        raise BadInput(f"There is a group {name} already.", field="group")
    group = store.insert_group(system.db, name, now=system.real_now)
    system.audit("add-group", name)
    return group


def put_into_group(system: SystemWork, merchant: Merchant, group: MerchantGroup | None) -> None:
    """Put a merchant into a group, out of the one that it was in; None is no group."""
    store.set_group(system.db, merchant.id, None if group is None else group.id)
    work = system.for_merchant(merchant)
    work.audit("put-into-group", merchant.code, group=group.name if group else None)


def _get_to_change(system: SystemWork, list_id: int, seen: int | None = None) -> PriceList:
    found = store.get_list_to_change(system.db, list_id)
    check_not_ended(found, system.real_now)
    if seen is not None and seen != found.revision:
        raise WrongState("Somebody else has changed this list meanwhile. Look at it again.")
    return found


def _change(system: SystemWork, found: PriceList, change: str, **values: object) -> PriceList:
    if all(getattr(found, name) == value for name, value in values.items()):
        return found
    revision = store.take_revision(system.db)
    changed = msgspec.structs.replace(found, **values, revision=revision)
    store.update_list(system.db, changed)
    _keep(system, changed, change)
    return changed


def _keep(system: SystemWork, changed: PriceList, change: str) -> None:
    who = system.actor.who
    store.insert_change(system.db, changed, change, who=who, now=system.real_now)
    system.audit(change, f"price list {changed.id}", name=changed.name, revision=changed.revision)
