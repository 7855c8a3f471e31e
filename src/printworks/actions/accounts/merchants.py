"""Merchants: their accounts, API keys and billing."""

import secrets
from datetime import timedelta
from typing import Final

import msgspec

from printworks.actions.work import SystemWork, Work
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.payments import Billing
from printworks.store.accounts.merchants import (
    MOST_KEYS,
    ApiKey,
    Merchant,
    end_key,
    insert_key,
    insert_merchant,
    list_keys,
    lock_keys,
    set_billing,
)
from printworks.store.money.ledger import set_credit_limit
from printworks.store.money.payments import SavedCard, save_card

# Without i, l, o and u, which are easily misread.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_LONGEST_NAME: Final = 200


class NewMerchant(msgspec.Struct, frozen=True):
    """A merchant and its key, which can be shown only once."""

    merchant: Merchant
    api_key: str


def add_merchant(
    system: SystemWork,
    name: str,
    *,
    currency: Currency = Currency.GBP,
    billing: Billing = Billing.CARD,
) -> NewMerchant:
    """Add a merchant with its first key."""
    name = name.strip()
    if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        raise BadInput(f"`name` must be 1 to {_LONGEST_NAME} printable characters.")
    code = "".join(secrets.choice(_ALPHABET) for _ in range(10))
    new = Merchant(0, code, name, timedelta(0), currency, billing=billing)
    merchant = insert_merchant(system.db, new, now=system.real_now)
    work = system.for_merchant(merchant)
    key = _insert_key(work)
    work.audit("add-merchant", code, name=name)
    return NewMerchant(merchant, key)


def add_key(work: Work) -> str:
    """Add an API key for a merchant and return it; existing keys keep working."""
    # Locked, so that two requests at once cannot exceed the limit.
    lock_keys(work.db, work.merchant.id)
    if len(list_keys(work.db, work.merchant.id, now=work.real_now)) >= MOST_KEYS:
        raise WrongState(f"At most {MOST_KEYS} keys can work at the same time; revoke one first.")
    key = _insert_key(work)
    work.audit("add-key", hint_of(key))
    return key


def revoke_key(work: Work, key_id: int) -> ApiKey:
    """Revoke a key at once, even the last one; return it."""
    lock_keys(work.db, work.merchant.id)
    ended = end_key(work.db, work.merchant.id, key_id, at=work.real_now, now=work.real_now)
    if ended is None:
        raise NotFound("There is no such key, or it has ended already.")
    work.audit("revoke-key", f"…{ended.hint}")
    return ended


def rotate_key(work: Work, *, old_key_valid_for: timedelta) -> str:
    """Return a new key that replaces all others.

    Keys without an expiry stay valid for `old_key_valid_for`; the others expire now.
    """
    # Locked, so that two rotations at once cannot leave three keys.
    lock_keys(work.db, work.merchant.id)
    keys = list_keys(work.db, work.merchant.id, now=work.real_now)
    staying = [key.id for key in keys if key.expires_at is None][: MOST_KEYS - 1]
    for key in keys:
        end = work.real_now + old_key_valid_for if key.id in staying else work.real_now
        end_key(work.db, work.merchant.id, key.id, at=end, now=work.real_now)
    new = _insert_key(work)
    work.audit("rotate-keys", hint_of(new), old_keys_for=str(old_key_valid_for))
    return new


def hint_of(key: str) -> str:
    """Return what may be shown of a key."""
    return f"…{key[-4:]}"


def _insert_key(work: Work) -> str:
    key = f"pw_{work.environment}_{secrets.token_urlsafe(32)}"
    insert_key(work.db, work.merchant.id, key, now=work.real_now)
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
