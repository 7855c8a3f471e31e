"""Who sells, and as which companies merchants buy."""

import msgspec

from printworks.actions.work import SystemWork, Work
from printworks.catalogue.countries import COUNTRIES
from printworks.errors import NotFound
from printworks.rules.businesses import Business, tidy_business
from printworks.rules.sellers import (
    Registration,
    Seller,
    add_registration,
    remove_registration,
    tidy_seller,
)
from printworks.store.money.sellers import (
    StoredSeller,
    delete_business,
    end_seller,
    find_business,
    find_seller_to_change,
    insert_seller,
    update_seller,
    write_business,
)


def set_seller(system: SystemWork, typed: Seller) -> None:
    """Say who sells; the registrations stay as they are. From then on, quotes carry tax."""
    stored = find_seller_to_change(system.db)
    if stored is None:
        seller = tidy_seller(typed, COUNTRIES)
        seller_id = insert_seller(system.db, seller, now=system.real_now)
        account = _describe_account("", seller.iban)
        system.audit("set-seller", f"seller {seller_id}", changed=["all"], **account)
        return
    kept = msgspec.structs.replace(typed, registrations=stored.seller.registrations)
    _change(system, stored, tidy_seller(kept, COUNTRIES))


def register_seller(system: SystemWork, country: str, registration: Registration) -> None:
    """Note that the seller is registered for tax in another country, too."""
    stored = _get(system)
    _change(system, stored, add_registration(stored.seller, country, registration, COUNTRIES))


def unregister_seller(system: SystemWork, country: str) -> None:
    """Note that the seller is no longer registered for tax in a country."""
    stored = _get(system)
    _change(system, stored, remove_registration(stored.seller, country))


def stop_selling(system: SystemWork) -> None:
    """Collect no tax from now on; what was taxed stays so, and the next seller is another one."""
    stored = _get(system)
    end_seller(system.db, stored.id, now=system.real_now)
    system.audit("end-seller", f"seller {stored.id}")


def _get(system: SystemWork) -> StoredSeller:
    stored = find_seller_to_change(system.db)
    if stored is None:
        raise NotFound("There is no seller yet: say who sells first.")
    return stored


def _change(system: SystemWork, stored: StoredSeller, seller: Seller) -> None:
    was, now = msgspec.structs.asdict(stored.seller), msgspec.structs.asdict(seller)
    changed = [name for name, value in now.items() if value != was[name]]
    if not changed:
        return
    update_seller(system.db, stored.id, seller, now=system.real_now)
    account = _describe_account(stored.seller.iban, seller.iban)
    system.audit("set-seller", f"seller {stored.id}", changed=changed, **account)


def _describe_account(before: str, iban: str) -> dict[str, str]:
    """Return the ends of the accounts before and after, as the audit log shows a change."""
    return {} if before == iban else {"iban": _end_of(iban), "before": _end_of(before)}


def _end_of(iban: str) -> str:
    return f"…{iban.replace(' ', '')[-4:]}" if iban else ""


def change_business(work: Work, typed: Business) -> None:
    """Say as which company a merchant buys; nothing typed is none."""
    was = find_business(work.db, work.merchant.id)
    if typed == Business():
        if was is not None:
            delete_business(work.db, work.merchant.id)
            work.audit("change-business", work.merchant.code, changed=["all"])
        return
    business = tidy_business(typed, COUNTRIES)
    known = msgspec.structs.asdict(was or Business())
    changed = [
        name for name, text in msgspec.structs.asdict(business).items() if text != known[name]
    ]
    if changed:
        write_business(work.db, work.merchant.id, business, now=work.real_now)
        # Not the texts: an address may be a person's.
        work.audit("change-business", work.merchant.code, changed=changed)
