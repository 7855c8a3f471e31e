"""The menus."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from printworks.rules.people import MAY, Duty, Realm
from printworks.store.accounts.people import Person


class NavigationLink(msgspec.Struct, frozen=True):
    """A line of the menu."""

    text: str
    address: str
    # The name of its icon in `icons.html`.
    sign: str
    is_here: bool = False


class _Line(msgspec.Struct, frozen=True):
    text: str
    address: str
    sign: str
    duty: Duty | None = None
    sandbox_only: bool = False
    # What else is there, at addresses of its own.
    also: tuple[str, ...] = ()


_MENUS: Final[Mapping[Realm, Sequence[_Line]]] = {
    Realm.MERCHANT: (
        _Line("Home", "/home", "home"),
        _Line("Orders", "/orders", "orders"),
        _Line("Catalogue", "/catalogue", "catalogue"),
        _Line("Issues", "/issues", "issues"),
        _Line(
            "Account",
            "/account",
            "money",
            duty=Duty.ACCOUNT,
            also=("/invoices", "/settings/card", "/settings/business"),
        ),
        _Line("Integrations", "/integrations", "callbacks"),
        _Line("Keys", "/keys", "keys"),
        _Line("Requests", "/requests", "requests"),
        _Line("Mail", "/mail", "mail"),
        _Line("Sandbox", "/sandbox", "sandbox", sandbox_only=True),
        _Line("Shop", "/settings/shop", "shop"),
        _Line("Team", "/team", "people"),
        _Line("Settings", "/settings", "settings"),
    ),
    Realm.OPERATOR: (
        _Line("Overview", "/console", "overview"),
        _Line("Production", "/console/production", "production", also=("/console/shipments",)),
        _Line("Orders", "/console/orders", "orders"),
        _Line("Issues", "/console/issues", "issues"),
        _Line("Merchants", "/console/merchants", "people"),
        _Line(
            "Catalogue",
            "/console/catalogue",
            "catalogue",
            also=("/console/labs", "/console/versions", "/console/prices", "/console/routing"),
        ),
        _Line(
            "Ledger",
            "/console/ledger",
            "money",
            also=(
                *("/console/invoices", "/console/lab-costs"),
                *("/console/reports", "/console/approvals"),
            ),
        ),
        _Line("Privacy", "/console/privacy", "privacy", duty=Duty.SUPPORT),
        _Line("Jobs", "/console/jobs", "jobs"),
        _Line("Mail", "/console/mail", "mail"),
        _Line("Health", "/console/health", "health", also=("/console/quarantine",)),
        _Line("Seller", "/console/seller", "shop", duty=Duty.ADMINISTER),
        _Line("Brand", "/console/brand", "brand"),
        _Line("People", "/console/people", "keys", duty=Duty.ADMINISTER),
        _Line("Audit log", "/console/audit", "requests", duty=Duty.SUPPORT),
        _Line("Settings", "/console/settings", "settings"),
    ),
}


def list_links(person: Person, path: str, *, is_sandbox: bool) -> list[NavigationLink]:
    """Return the menu of a person at a page."""
    lines = [
        line
        for line in _MENUS[person.realm]
        if (line.duty is None or line.duty in MAY[person.role])
        and (is_sandbox or not line.sandbox_only)
    ]
    # The overview is above all others, and not where they are.
    covering = {line.address: _find_cover(path, line) for line in lines}
    here = max(covering, key=lambda address: len(covering[address]), default="")
    return [
        NavigationLink(
            line.text, line.address, line.sign, bool(covering[here]) and line.address == here
        )
        for line in lines
    ]


def _find_cover(path: str, line: _Line) -> str:
    """Return by which of its addresses a line covers a page; empty if it does not."""
    if line.address == "/console":
        return line.address if path == line.address else ""
    starts = [one for one in (line.address, *line.also) if f"{path}/".startswith(f"{one}/")]
    return max(starts, key=len, default="")
