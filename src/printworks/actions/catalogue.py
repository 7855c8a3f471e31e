"""Versions of the catalogue: added, published now or at a time, and returned to.

A catalogue is read and checked before the transaction that adds it. Every process follows what is
published within seconds; an order that was quoted keeps its price.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from printworks.actions.losses import find_catalogue_losses
from printworks.actions.product_pictures import DrawnPicture, find_missing, keep_pictures
from printworks.actions.work import SystemWork
from printworks.catalogue.pictures import list_pictures
from printworks.catalogue.promises import find_equal_promises
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import WrongState
from printworks.rules import catalogue_versions as rules
from printworks.rules.catalogue_versions import VersionState, find_state, read_title
from printworks.store.catalogue import versions as store
from printworks.store.catalogue.versions import CatalogueVersion

_AS_INSTALLED = "As installed"


def add_version(
    system: SystemWork,
    catalogue: Catalogue,
    title: str,
    *,
    pictures: Sequence[DrawnPicture] = (),
) -> CatalogueVersion:
    """Add a draft that changes the version in use, with the pictures that came with it."""
    title = read_title(title)
    store.lock_versions(system.db)
    current = _require_first(system)
    like = store.find_version_like(system.db, catalogue.fingerprint)
    if like is not None:
        raise WrongState(f"This is the same as version {like.id}, “{like.title}”.")
    added = _insert(system, catalogue.texts, title, based_on=current)
    keep_pictures(system, pictures)
    system.audit("add-catalogue", f"version {added.id}", title=title)
    return added


def add_draft(
    system: SystemWork, texts: Mapping[str, str], title: str, *, copy_of: int | None = None
) -> CatalogueVersion:
    """Add a draft to be changed: a copy of a version or, without one, of the version in use."""
    title = read_title(title)
    store.lock_versions(system.db)
    current = _require_first(system)
    based_on = current if copy_of is None else store.get_version(system.db, copy_of).id
    added = _insert(system, texts, title, based_on=based_on)
    system.audit("add-catalogue", f"version {added.id}", title=title)
    return added


def save_draft(
    system: SystemWork,
    seen: CatalogueVersion,
    texts: Mapping[str, str],
    *,
    what: str,
    pictures: Sequence[DrawnPicture] = (),
) -> bool:
    """Give a draft other files; return False if somebody changed it since it was seen.

    `what` is the part that is changed, for the audit log.
    """
    store.lock_versions(system.db)
    version = store.get_version(system.db, seen.id)
    rules.check_editing(state_of(system, version))
    if not store.replace_texts(system.db, version.id, texts, seen=seen.fingerprint):
        return False
    keep_pictures(system, pictures)
    system.audit("edit-catalogue", f"version {version.id}", what=what)
    return True


def publish_version(
    system: SystemWork, version_id: int, checked: Catalogue, *, at: datetime | None = None
) -> CatalogueVersion:
    """Use a version from now on, or from a time in the future on.

    It was read and checked before; if it was changed since, it is not published.
    """
    when = system.real_now if at is None else max(at, system.real_now)
    store.lock_versions(system.db)
    version = store.get_version(system.db, version_id)
    if version.fingerprint != checked.fingerprint:
        raise WrongState("Somebody has just changed this draft. Review it, then publish it again.")
    rules.check_publishing(state_of(system, version), when, now=system.real_now)
    published = store.set_publishing(system.db, version.id, when, by=system.actor.who)
    system.audit("publish-catalogue", f"version {version.id}", at=when.isoformat())
    return published


def withdraw_version(system: SystemWork, version_id: int) -> None:
    """Do not publish a version at its time; it is a draft again."""
    store.lock_versions(system.db)
    version = store.get_version(system.db, version_id)
    rules.check_withdrawing(state_of(system, version))
    store.set_publishing(system.db, version.id, None, by="")
    system.audit("withdraw-catalogue", f"version {version.id}")


def delete_version(system: SystemWork, version_id: int) -> None:
    """Delete a draft."""
    store.lock_versions(system.db)
    version = store.get_version(system.db, version_id)
    rules.check_deleting(state_of(system, version))
    store.delete_version(system.db, version)
    keep_pictures(system, ())
    system.audit("delete-catalogue", f"version {version.id}", title=version.title)


def roll_back(
    system: SystemWork, catalogue: Catalogue, version: CatalogueVersion
) -> CatalogueVersion:
    """Use a version that was in use before again, as a new version with the same files."""
    store.lock_versions(system.db)
    rules.check_rolling_back(state_of(system, version))
    title = f"Back to version {version.id}"
    copied = _insert(system, catalogue.texts, title, based_on=version.id)
    published = store.set_publishing(system.db, copied.id, system.real_now, by=system.actor.who)
    system.audit("roll-back-catalogue", f"version {copied.id}", to=version.id)
    return published


def state_of(system: SystemWork, version: CatalogueVersion) -> VersionState:
    """Return the state of a version now."""
    return list_states(system, [version])[0]


def list_states(system: SystemWork, versions: Sequence[CatalogueVersion]) -> list[VersionState]:
    """Return the states of versions now, in their order."""
    now = system.real_now
    current = store.find_current(system.db, now=now)
    return [
        find_state(version.publish_at, is_current=version.id == current, now=now)
        for version in versions
    ]


def find_warnings(
    system: SystemWork, catalogue: Catalogue, version: CatalogueVersion
) -> Iterator[str]:
    """Say what publishing a version would break or should not be meant."""
    current = store.find_current(system.db, now=system.real_now)
    if version.based_on != current:
        yield (
            f"It was made from version {version.based_on}, and version {current} is in use by now: "
            f"what was changed in between is taken back, unless it is in this version, too."
        )
    if not catalogue.products:
        yield "Nothing is sold in it."
    if not catalogue.labs:
        yield "It has no lab: products can be looked at, but not ordered."
    for currency in sorted(store.list_used_currencies(system.db) - {*catalogue.currencies}):
        yield f"Merchants are charged in {currency}, and nothing is sold in it: they cannot order."
    known = {lab.code for lab in catalogue.labs}
    for lab in sorted(store.list_busy_labs(system.db) - known):
        yield f"The lab {lab} has work that is not finished, and is not in this catalogue."
    for name in find_missing(system, list_pictures(catalogue.products)):
        yield f"The picture {name} is not stored: its products are drawn instead, or shown without."
    yield from _find_losses(catalogue)
    yield from find_equal_promises(catalogue.promises)


def _find_losses(catalogue: Catalogue) -> Iterator[str]:
    """Say what is sold for less than the cheapest lab charges for it."""
    for loss in find_catalogue_losses(catalogue):
        yield (
            f"{loss.sku} is sold for {loss.price / 100:.2f} {loss.currency} and costs at least "
            f"{loss.cost / 100:.2f}."
        )


def _require_first(system: SystemWork) -> int:
    """Return the version in use; what was installed becomes the first one if there is none."""
    current = store.find_current(system.db, now=system.real_now)
    if current is not None:
        return current
    first = _insert(system, system.catalogue.texts, _AS_INSTALLED, based_on=None)
    store.set_publishing(system.db, first.id, system.real_now, by=system.actor.who)
    return first.id


def _insert(
    system: SystemWork, texts: Mapping[str, str], title: str, *, based_on: int | None
) -> CatalogueVersion:
    values = {
        "title": title,
        "made_by": system.actor.who,
        "based_on": based_on,
        "created_at": system.real_now,
    }
    return store.insert_version(system.db, texts, values)
