"""The keys of a merchant's programs: make one, replace all, end one."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from starlette.responses import Response

from printworks.actions.accounts.merchants import add_key, revoke_key, rotate_key
from printworks.dashboard.merchant.api_access import KEY_GOES_HERE, describe_access
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.errors import BadInput
from printworks.store.accounts.merchants import MOST_KEYS, list_keys

_HINT: Final = 4
# How long the old keys go on working, by what the form sends.
_WAITS: Final[Mapping[str, tuple[str, timedelta]]] = {
    "at-once": ("No longer: they end at once", timedelta()),
    "day": ("1 day", timedelta(days=1)),
    "week": ("7 days", timedelta(days=7)),
}
_USUAL_WAIT: Final = "day"


def show_keys(visit: MerchantVisit, new_key: str = "") -> Response:
    """Show the keys that work now, and how to ask with one."""
    keys = list_keys(visit.db, visit.merchant.id, now=visit.real_now)
    wanted = visit.sent.text("key") or visit.query.get("revoke")
    return visit.render(
        "merchant/keys.html",
        keys=keys,
        # The one about which somebody is asked once more.
        ending=next((key for key in keys if str(key.id) == wanted), None),
        most_keys=MOST_KEYS,
        new_key=new_key,
        access=describe_access(visit, new_key or KEY_GOES_HERE),
        waits=[(name, text) for name, (text, _) in _WAITS.items()],
        wait=visit.sent.text("old_keys") or _USUAL_WAIT,
    )


def make_key(visit: MerchantVisit) -> Response:
    """Make one more key, and show it this once."""
    key = add_key(
        visit.db,
        visit.merchant,
        environment=visit.services.settings.environment,
        now=visit.real_now,
    )
    visit.note("add-key", _hint(key))
    return show_keys(visit, key)


def rotate_keys(visit: MerchantVisit) -> Response:
    """Make a key in place of all others, which work a while longer, and show it this once."""
    chosen = visit.sent.text("old_keys")
    if chosen not in _WAITS:
        raise BadInput("Choose how long the old keys go on working.")
    key = rotate_key(
        visit.db,
        visit.merchant.code,
        old_key_valid_for=_WAITS[chosen][1],
        environment=visit.services.settings.environment,
        now=visit.real_now,
    )
    visit.note("rotate-keys", _hint(key), old_keys=chosen)
    return show_keys(visit, key)


def end_key(visit: MerchantVisit) -> str:
    """End a key at once; the last one only for somebody who says that they mean it."""
    key_id = visit.sent.number("key")
    if key_id is None:
        refuse_unknown()
    keys = list_keys(visit.db, visit.merchant.id, now=visit.real_now)
    if [key.id for key in keys] == [key_id] and not visit.sent.text("sure"):
        raise BadInput(
            "This is your last key. Without it none of your programs can ask anything: tick the "
            "box if you mean it, or make a new key first."
        )
    ended = revoke_key(visit.db, visit.merchant.id, key_id, now=visit.real_now)
    visit.note("revoke-key", f"…{ended.hint}")
    return visit.path


PAGES: Final[tuple[Page[MerchantVisit], ...]] = (
    Page(
        path="/keys",
        show=show_keys,
        form_actions=(
            FormAction(name="add-key", take=make_key, needs_password=True),
            FormAction(name="rotate-keys", take=rotate_keys, needs_password=True),
            FormAction(
                name="revoke-key",
                take=end_key,
                says="The key was revoked. Programs that still use it are refused.",
                needs_password=True,
            ),
        ),
    ),
)


def _hint(key: str) -> str:
    return f"…{key[-_HINT:]}"
