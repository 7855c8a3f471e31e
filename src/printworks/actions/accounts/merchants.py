"""Merchants: their accounts, API keys and billing."""

import secrets
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec

from printworks.actions.work import SystemWork, Work
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.invoices import Invoicing
from printworks.rules.keys import MOST_KEYS, KeyAccess, KeyLimits, read_key_name
from printworks.rules.merchants import check_currency, read_merchant_name
from printworks.rules.payments import Billing
from printworks.store.accounts.merchants import (
    ApiKey,
    Merchant,
    NewKey,
    end_key,
    insert_key,
    insert_merchant,
    list_keys,
    lock_keys,
    set_billing,
    set_invoicing,
)
from printworks.store.money.ledger import set_credit_limit
from printworks.store.money.payments import SavedCard, save_card

# Without i, l, o and u, which are easily misread.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
# Later ends are mistakes.
LONGEST_KEY: Final = timedelta(days=3650)
_NO_SUCH_KEY: Final = "There is no such key, or it has ended already."
_UNLIMITED: Final = KeyLimits()


class NewMerchant(msgspec.Struct, frozen=True):
    """A merchant and its key, which can be shown only once."""

    merchant: Merchant
    api_key: str


def add_merchant(
    system: SystemWork,
    name: str,
    *,
    currency: Currency | None = None,
    billing: Billing = Billing.CARD,
) -> NewMerchant:
    """Add a merchant with its first key; its currency is the catalogue's first unless one is given."""
    merchant = open_account(system, name, currency=currency, billing=billing)
    return NewMerchant(merchant, _insert_key(system.for_merchant(merchant), _UNLIMITED))


def open_account(
    system: SystemWork,
    name: str,
    *,
    currency: Currency | None = None,
    billing: Billing = Billing.CARD,
) -> Merchant:
    """Add a merchant without a key, for somebody who signs in and makes one when it is needed."""
    name = read_merchant_name(name)
    if currency is None:
        currency = system.catalogue.currencies[0]
    check_currency(currency, system.catalogue.currencies)
    code = "".join(secrets.choice(_ALPHABET) for _ in range(10))
    new = Merchant(0, code, name, timedelta(0), currency, billing=billing)
    merchant = insert_merchant(system.db, new, now=system.real_now)
    if (limit := system.backing.money_terms.default_credit_limit) is not None:
        set_credit_limit(system.db, merchant.id, limit)
    system.for_merchant(merchant).audit("add-merchant", code, name=name)
    return merchant


def add_key(
    work: Work, limits: KeyLimits = _UNLIMITED, *, valid_for: timedelta | None = None
) -> str:
    """Add an API key for a merchant and return it; existing keys keep working."""
    limits = _check_limits(work, limits)
    if valid_for is not None and not timedelta(0) < valid_for <= LONGEST_KEY:
        raise BadInput(f"A key can be valid for 1 to {LONGEST_KEY.days} days.")
    # Locked, so that two requests at once cannot exceed the limit.
    lock_keys(work.db, work.merchant.id)
    _require_room(list_keys(work.db, work.merchant.id, now=work.real_now))
    key = _insert_key(work, limits, valid_for)
    work.audit("add-key", hint_of(key), **_describe(limits, valid_for))
    return key


def _check_limits(work: Work, limits: KeyLimits) -> KeyLimits:
    """Return limits that a key can have."""
    if limits.lab is not None and work.catalogue.find_lab(limits.lab) is None:
        labs = ", ".join(lab.code for lab in work.catalogue.labs) or "none"
        raise BadInput(f"There is no lab {limits.lab}; the labs are: {labs}.", field="lab")
    return msgspec.structs.replace(limits, name=read_key_name(limits.name))


def _require_room(keys: Sequence[ApiKey]) -> None:
    if len(keys) >= MOST_KEYS:
        raise WrongState(f"At most {MOST_KEYS} keys can work at the same time; revoke one first.")


def _describe(limits: KeyLimits, valid_for: timedelta | None = None) -> dict[str, object]:
    """Return what is not usual about a key, for the audit log."""
    found = {
        "name": limits.name,
        "access": "" if limits.access is KeyAccess.FULL else limits.access,
        "lab": limits.lab,
        "valid_for": None if valid_for is None else str(valid_for),
    }
    return {word: value for word, value in found.items() if value}


def revoke_key(work: Work, key_id: int) -> ApiKey:
    """Revoke a key at once, even the last one; return it."""
    lock_keys(work.db, work.merchant.id)
    ended = end_key(work.db, work.merchant.id, key_id, at=work.real_now, now=work.real_now)
    if ended is None:
        raise NotFound(_NO_SUCH_KEY)
    work.audit("revoke-key", f"…{ended.hint}", **_describe(ended.limits))
    return ended


def rotate_key(work: Work, *, old_key_valid_for: timedelta) -> str:
    """Return a new key, without limits, that replaces all others.

    Those stay valid for `old_key_valid_for`, or until their own end, as far as there is room;
    those that were replaced before end now.
    """
    # Locked, so that two rotations at once cannot leave three keys.
    lock_keys(work.db, work.merchant.id)
    keys = list_keys(work.db, work.merchant.id, now=work.real_now)
    for place, key in enumerate(keys, 1):
        may_stay = place < MOST_KEYS and key.replaced_at is None
        _end_in(work, key, old_key_valid_for if may_stay else timedelta(0))
    new = _insert_key(work, _UNLIMITED)
    work.audit("rotate-keys", hint_of(new), old_keys_for=str(old_key_valid_for))
    return new


def replace_key(work: Work, key_id: int, *, old_key_valid_for: timedelta) -> str:
    """Return a new key that replaces one other, with its name and its limits.

    If that one ends, the new one is valid for as long from now on.
    """
    lock_keys(work.db, work.merchant.id)
    keys = list_keys(work.db, work.merchant.id, now=work.real_now)
    old = next((key for key in keys if key.id == key_id), None)
    if old is None:
        raise NotFound(_NO_SUCH_KEY)
    if old_key_valid_for:
        _require_room(keys)
    _end_in(work, old, old_key_valid_for)
    valid_for = None if old.expires_at is None else old.expires_at - old.created_at
    new = _insert_key(work, old.limits, valid_for)
    what = _describe(old.limits, valid_for)
    work.audit("replace-key", hint_of(new), old=f"…{old.hint}", **what)
    return new


def _end_in(work: Work, key: ApiKey, wait: timedelta) -> None:
    """Let a key end after a while, unless it ends before."""
    end = work.real_now + wait
    if key.expires_at is not None:
        end = min(end, key.expires_at)
    end_key(work.db, work.merchant.id, key.id, at=end, now=work.real_now)


def hint_of(key: str) -> str:
    """Return what may be shown of a key."""
    return f"…{key[-4:]}"


def _insert_key(work: Work, limits: KeyLimits, valid_for: timedelta | None = None) -> str:
    # Without hyphens: a command that is given the end of a key would read it as an option.
    key = f"pw_{work.environment}_{secrets.token_urlsafe(32).replace('-', '_')}"
    end = None if valid_for is None else work.real_now + valid_for
    new = NewKey(merchant_id=work.merchant.id, key=key, limits=limits, expires_at=end)
    insert_key(work.db, new, now=work.real_now)
    return key


class BillingTerms(msgspec.Struct, frozen=True, kw_only=True):
    """How a merchant pays; what is unset stays as it is."""

    billing: Billing | msgspec.UnsetType = msgspec.UNSET
    # None means no limit.
    credit_limit: int | msgspec.UnsetType | None = msgspec.UNSET
    card: SavedCard | msgspec.UnsetType = msgspec.UNSET


def change_billing(work: Work, terms: BillingTerms) -> None:
    """Change how a merchant pays from now on, and its credit limit."""
    changed: dict[str, object] = {}
    if terms.billing is not msgspec.UNSET:
        set_billing(work.db, work.merchant.id, terms.billing)
        changed["billing"] = terms.billing
    if terms.credit_limit is not msgspec.UNSET:
        set_credit_limit(work.db, work.merchant.id, terms.credit_limit)
        changed["limit"] = terms.credit_limit
    if terms.card is not msgspec.UNSET:
        save_card(work.db, work.merchant.id, terms.card)
        changed["card"] = "changed"
    if changed:
        work.audit("change-billing", work.merchant.code, **changed)


def change_invoicing(work: Work, invoicing: Invoicing) -> None:
    """Change when a merchant is sent invoices; what was charged before is invoiced as it was to be."""
    if invoicing is not work.merchant.invoicing:
        set_invoicing(work.db, work.merchant.id, invoicing)
        work.audit("change-invoicing", work.merchant.code, invoicing=invoicing)
