"""Opens a draft for its forms, reads what was typed, and saves it without losing a colleague's change."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Connection

from printworks.actions import catalogue as actions
from printworks.actions.product_pictures import DrawnPicture
from printworks.catalogue.drafts.checking import WrongValue
from printworks.catalogue.drafts.draft import Draft, fingerprint_values
from printworks.catalogue.products import Currency
from printworks.dashboard.console.drafts.fields import Field, FieldGroup
from printworks.dashboard.console.drafts.inputs import Input, Known, Row, Typed, as_list
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput, WrongState
from printworks.rules.catalogue_versions import VersionState, check_editing
from printworks.store.catalogue.versions import CatalogueVersion, get_version, read_texts

# How often a change is made again because others were faster.
_TRIES: Final = 5
# The name of the hidden field: what the form was made of.
SEEN: Final = "seen"


class OpenDraft(msgspec.Struct, frozen=True):
    """A version, its files, and whether they can be changed."""

    version: CatalogueVersion
    draft: Draft
    state: VersionState

    @property
    def may_change(self) -> bool:
        return self.state is VersionState.DRAFT

    @property
    def known(self) -> Known:
        """What its values may refer to."""
        draft = self.draft
        return Known(
            currencies=tuple(as_list(draft.read_value("currencies")) or Currency),
            kinds=tuple(as_list(draft.read_value("kinds"))),
            bands=tuple(as_list(draft.read_value("bands"))),
            labs=[
                (str(lab.get("code", "")), str(lab.get("name", "")))
                for lab in draft.list_blocks("labs")
            ],
            groups=tuple(draft.read_table("groups")),
            holidays=tuple(draft.read_table("holidays")),
        )


class ShownGroup(msgspec.Struct, frozen=True):
    """A group of inputs, ready to be shown."""

    title: str
    note: str
    inputs: Sequence[Input]
    rows: Sequence[Row]
    is_folded: bool


def open_draft(visit: ConsoleVisit, db: Connection) -> OpenDraft:
    """Return the draft that the address names."""
    version = get_version(db, visit.number("id"))
    state = actions.state_of(visit.system_work_in(db), version)
    return OpenDraft(version, Draft(read_texts(db, version.id)), state)


def show_groups(
    groups: Sequence[FieldGroup],
    values: Mapping[str, Any],
    known: Known,
    wrong: Mapping[str, str],
) -> list[ShownGroup]:
    """Return the inputs of a form with values in them; what is wrong is not folded away."""
    found = []
    for group in groups:
        shown = [one for field in group.fields for one in field.show(field.get(values), known)]
        inputs = [one for one in shown if isinstance(one, Input)]
        rows = [one for one in shown if isinstance(one, Row)]
        is_folded = group.is_folded and not any(one.name in wrong for one in inputs)
        found.append(ShownGroup(group.title, group.note, inputs, rows, is_folded))
    return found


def read_values(
    groups: Sequence[FieldGroup], typed: Typed, known: Known, before: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of a block: what was typed, and as it was written what stays the same."""
    fields = [field for group in groups for field in group.fields]
    for field in fields:
        field.read(typed, known)
    values = dict(before)
    for field in fields:
        is_same = field.show(field.get(typed.values), known) == field.show(field.get(before), known)
        # Of something new, a box that is not ticked is an answer, too.
        if not is_same or (not before and field.default is None):
            _take(field, typed.values, values)
    return values


def _take(field: Field, typed: Mapping[str, Any], values: dict[str, Any]) -> None:
    for key in field.keys:
        values.pop(key, None)
        if key in typed:
            values[key] = typed[key]


def refuse_wrong(groups: Sequence[FieldGroup], typed: Typed, found: Sequence[WrongValue]) -> None:
    """Refuse a form in which something is wrong, each at its field."""
    wrong = dict(typed.wrong)
    # What could not be read at all is absent from the values, and would be reported as missing.
    unread = {name.partition(".")[0] for name in wrong}
    labels = {key: field.label for group in groups for field in group.fields for key in field.keys}
    inputs = [*typed.sent.fields]
    for place, sentence in found:
        name = typed.find_name(place)
        if name.partition(".")[0] in unread:
            continue
        key = str(place[0]) if place else ""
        said = sentence.replace(f"`{key}`", f"“{labels[key]}”") if key in labels else sentence
        wrong.setdefault(_find_input(name, inputs, groups), said)
    if wrong:
        count = "A field is" if len(wrong) == 1 else f"{len(wrong)} fields are"
        raise BadInput(f"Nothing was saved: {count} wrong.", fields=wrong)


def _find_input(name: str, inputs: Sequence[str], groups: Sequence[FieldGroup]) -> str:
    """Return the input for a place, or the closest one around it."""
    while name:
        if name in inputs:
            return name
        within = [one for one in inputs if one.startswith(f"{name}.")]
        if within:
            return within[0]
        # Boxes of which none is ticked are not sent.
        if any(field.key == name for group in groups for field in group.fields):
            return name
        name = name.rpartition(".")[0]
    return groups[0].fields[0].key


def change_draft(
    visit: ConsoleVisit,
    edit: Callable[[OpenDraft], str],
    *,
    where: str,
    pictures: Sequence[DrawnPicture] = (),
) -> None:
    """Change the files of a draft, outside a transaction; the edit returns what it changes."""
    for _ in range(_TRIES):
        with visit.services.database.reading() as db:
            opened = open_draft(visit, db)
        check_editing(opened.state)
        what = edit(opened)
        with visit.services.database.writing() as db:
            is_saved = actions.save_draft(
                visit.system_work_in(db),
                opened.version,
                opened.draft.texts,
                what=what,
                pictures=pictures,
            )
            if is_saved:
                visit.remember(db, where)
                return
    raise WrongState("Others are changing this draft at the same time. Send the form again.")


def refuse_older(visit: ConsoleVisit, values: object, noun: str) -> None:
    """Refuse a form that was made of other values than there are now."""
    if visit.sent.text(SEEN) != fingerprint_values(values):
        raise WrongState(
            f"Somebody has changed this {noun} since you opened it, and nothing was saved. Open it in "
            "another window to see what is there now; if yours is right, save it again."
        )
