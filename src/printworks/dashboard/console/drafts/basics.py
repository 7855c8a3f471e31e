"""Names that the rest of a catalogue refers to: currencies, kinds, shipping bands."""

from typing import Any, Final

from starlette.responses import Response

from printworks.catalogue.drafts.checking import WrongValue, check_line, check_value
from printworks.catalogue.drafts.draft import Draft, fingerprint_values
from printworks.dashboard.console.drafts.editing import (
    OpenDraft,
    change_draft,
    open_draft,
    read_values,
    refuse_older,
    refuse_wrong,
    show_groups,
)
from printworks.dashboard.console.drafts.form_tables import BASICS_GROUPS
from printworks.dashboard.console.drafts.inputs import Typed
from printworks.dashboard.console.drafts.pages import EDIT
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.people import Duty

_KEYS: Final = ("currencies", "kinds", "bands")
_RATES: Final = "rates."


@page_at(f"{EDIT}/basics")
def show_basics(visit: ConsoleVisit) -> Response:
    """Show the form of the names that others refer to."""
    opened = open_draft(visit, visit.db)
    values = _get_values(opened.draft)
    return visit.render(
        "console/drafts/basics.html",
        opened=opened,
        groups=show_groups(BASICS_GROUPS, values, opened.known, visit.wrong_fields),
        seen=fingerprint_values(values),
        is_mine=visit.may(Duty.ADMINISTER) and opened.may_change,
    )


@show_basics.action("save-catalogue-basics", "They were saved.", duty=Duty.ADMINISTER, alone=True)
def save_basics(visit: ConsoleVisit) -> str:
    """Save them, if nobody else has changed them meanwhile."""
    where = f"/console/versions/{visit.number('id')}/edit"

    def edit(opened: OpenDraft) -> str:
        before = _get_values(opened.draft)
        refuse_older(visit, before, "part")
        typed = Typed(visit.sent)
        values = read_values(BASICS_GROUPS, typed, opened.known, before)
        changed = [key for key in {**before, **values} if before.get(key) != values.get(key)]
        _apply(opened.draft, changed, values)
        refuse_wrong(BASICS_GROUPS, typed, _check(opened.draft, values))
        return f"basics: {', '.join(changed) or 'nothing'}"

    change_draft(visit, edit, where=where)
    return where


def _get_values(draft: Draft) -> dict[str, Any]:
    values = {key: draft.read_value(key) for key in _KEYS}
    rates = {f"{_RATES}{name}": rate for name, rate in draft.read_table("rates").items()}
    return {key: value for key, value in values.items() if value is not None} | rates


def _apply(draft: Draft, changed: list[str], values: dict[str, Any]) -> None:
    for key in changed:
        if key.startswith(_RATES):
            draft.set_line("rates", key.removeprefix(_RATES), values.get(key))
        else:
            draft.set_value(key, values.get(key))


def _check(draft: Draft, values: dict[str, Any]) -> list[WrongValue]:
    found = [WrongValue((key,), one.sentence) for key in _KEYS for one in check_value(draft, key)]
    for key in values:
        if key.startswith(_RATES):
            lines = check_line(draft, "rates", key.removeprefix(_RATES))
            found += [WrongValue((key,), one.sentence) for one in lines]
    return found
