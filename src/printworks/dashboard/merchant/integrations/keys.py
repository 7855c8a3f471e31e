"""The API keys of a merchant: add, rotate, revoke."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from starlette.responses import Response

from printworks.actions.accounts.merchants import add_key, revoke_key, rotate_key
from printworks.dashboard.merchant.integrations.api_access import KEY_GOES_HERE, describe_access
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.errors import BadInput
from printworks.store.accounts.merchants import MOST_KEYS, list_keys

# How long the old keys keep working, by the value of the field.
_WAITS: Final[Mapping[str, tuple[str, timedelta]]] = {
    "at-once": ("Revoke them now", timedelta()),
    "day": ("1 day", timedelta(days=1)),
    "week": ("7 days", timedelta(days=7)),
}
_USUAL_WAIT: Final = "day"


@page_at("/keys")
def show_keys(visit: MerchantVisit, new_key: str = "") -> Response:
    """Show the active keys, and how to use one."""
    keys = list_keys(visit.db, visit.merchant.id, now=visit.real_now)
    wanted = visit.sent.text("key") or visit.query.get("revoke")
    return visit.render(
        "merchant/keys.html",
        keys=keys,
        # The one to confirm.
        ending=next((key for key in keys if str(key.id) == wanted), None),
        most_keys=MOST_KEYS,
        new_key=new_key,
        access=describe_access(visit, new_key or KEY_GOES_HERE),
        waits=[(name, text) for name, (text, _) in _WAITS.items()],
        wait=visit.sent.text("old_keys") or _USUAL_WAIT,
    )


@show_keys.action("add-key", needs_password=True)
def make_key(visit: MerchantVisit) -> Response:
    """Add a key, and show it once."""
    return show_keys(visit, add_key(visit.work))


@show_keys.action("rotate-keys", needs_password=True)
def rotate_keys(visit: MerchantVisit) -> Response:
    """Replace all keys by a new one, and show it once."""
    chosen = visit.sent.text("old_keys")
    if chosen not in _WAITS:
        raise BadInput("Choose how long the old keys keep working.")
    return show_keys(visit, rotate_key(visit.work, old_key_valid_for=_WAITS[chosen][1]))


@show_keys.action(
    "revoke-key", "The key was revoked. Programs that use it are now refused.", needs_password=True
)
def end_key(visit: MerchantVisit) -> None:
    """Revoke a key; the last one only after a confirmation."""
    key_id = visit.sent.number("key")
    if key_id is None:
        refuse_unknown()
    keys = list_keys(visit.db, visit.merchant.id, now=visit.real_now)
    if [key.id for key in keys] == [key_id] and not visit.sent.text("sure"):
        raise BadInput(
            "This is your last key. Without it, none of your programs can use the API: tick the "
            "box to confirm, or add a new key first."
        )
    revoke_key(visit.work, key_id)
