"""The API keys of a merchant: add, replace, revoke."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from starlette.responses import Response

from printworks.actions.accounts.merchants import add_key, replace_key, revoke_key, rotate_key
from printworks.dashboard.merchant.integrations.api_access import KEY_GOES_HERE, describe_access
from printworks.dashboard.shared.labels import KEY_ACCESSES
from printworks.dashboard.shared.order_routing import name_lab
from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.forms import read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.errors import BadInput
from printworks.rules.keys import LONGEST_NAME, MOST_KEYS, KeyAccess, KeyLimits
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import list_keys

# How long the old keys keep working, by the value of the field.
_WAITS: Final[Mapping[str, tuple[str, timedelta]]] = {
    "at-once": ("Revoke them now", timedelta()),
    "day": ("1 day", timedelta(days=1)),
    "week": ("7 days", timedelta(days=7)),
}
_USUAL_WAIT: Final = "day"
# How long a new key works, by the value of the field.
_ENDS: Final[Mapping[str, tuple[str, timedelta | None]]] = {
    "": ("Never", None),
    "30": ("After 30 days", timedelta(days=30)),
    "90": ("After 90 days", timedelta(days=90)),
    "365": ("After a year", timedelta(days=365)),
}


@page_at("/keys", forms=Duty.MANAGE)
def show_keys(visit: MerchantVisit, new_key: str = "") -> Response:
    """Show the active keys, and how to use one."""
    keys = list_keys(visit.db, visit.merchant.id, now=visit.real_now)
    catalogue = visit.services.catalogue
    may_see = find_brand().brand.show_labs
    labs = [(lab.code, name_lab(lab.code, catalogue)) for lab in catalogue.labs] if may_see else []
    # The one to confirm.
    wanted = visit.sent.text("key") or visit.query.get("revoke") or visit.query.get("replace")
    sent = visit.sent.text("do")
    return visit.render(
        "merchant/keys.html",
        keys=keys,
        chosen=None if new_key else next((key for key in keys if str(key.id) == wanted), None),
        is_replacing=sent == "replace-key" or (not sent and "replace" in visit.query),
        most_keys=MOST_KEYS,
        longest_name=LONGEST_NAME,
        new_key=new_key,
        access=describe_access(visit, new_key or KEY_GOES_HERE),
        accesses=[(str(access), text) for access, text in KEY_ACCESSES.items()],
        labs=labs,
        lab_names=dict(labs),
        ends=[(name, text) for name, (text, _) in _ENDS.items()],
        waits=[(name, text) for name, (text, _) in _WAITS.items()],
        wait=visit.sent.text("old_keys") or _USUAL_WAIT,
    )


@show_keys.action("add-key", needs_password=True)
def make_key(visit: MerchantVisit) -> Response:
    """Add a key, and show it once."""
    sent = visit.sent
    access, end = sent.text("access") or KeyAccess.FULL, sent.text("ends")
    limits = KeyLimits(
        sent.text("name"),
        read_choice(KeyAccess, access, "Choose what the key may do.", field="access"),
        _read_lab(visit),
    )
    if end not in _ENDS:
        raise BadInput("Choose when the key ends.", field="ends")
    return show_keys(visit, add_key(visit.work, limits, valid_for=_ENDS[end][1]))


def _read_lab(visit: MerchantVisit) -> str | None:
    lab = visit.sent.text("lab")
    if lab and not find_brand().brand.show_labs:
        raise BadInput("A key for one lab is made by the operator.", field="lab")
    return lab or None


@show_keys.action("rotate-keys", needs_password=True)
def rotate_keys(visit: MerchantVisit) -> Response:
    """Replace all keys by a new one, and show it once."""
    return show_keys(visit, rotate_key(visit.work, old_key_valid_for=_read_wait(visit)))


@show_keys.action("replace-key", needs_password=True)
def replace_one(visit: MerchantVisit) -> Response:
    """Replace a key by a new one that may do the same, and show it once."""
    key_id = _read_key(visit)
    return show_keys(visit, replace_key(visit.work, key_id, old_key_valid_for=_read_wait(visit)))


@show_keys.action(
    "revoke-key", "The key was revoked. Programs that use it are now refused.", needs_password=True
)
def end_key(visit: MerchantVisit) -> None:
    """Revoke a key; the last one only after a confirmation."""
    key_id = _read_key(visit)
    keys = list_keys(visit.db, visit.merchant.id, now=visit.real_now)
    if [key.id for key in keys] == [key_id] and not visit.sent.text("sure"):
        raise BadInput(
            "This is your last key. Without it, none of your programs can use the API: tick the "
            "box to confirm, or add a new key first."
        )
    revoke_key(visit.work, key_id)


def _read_key(visit: MerchantVisit) -> int:
    key_id = visit.sent.number("key")
    if key_id is None:
        refuse_unknown()
    return key_id


def _read_wait(visit: MerchantVisit) -> timedelta:
    chosen = visit.sent.text("old_keys")
    if chosen not in _WAITS:
        raise BadInput("Choose how long the old keys keep working.")
    return _WAITS[chosen][1]
