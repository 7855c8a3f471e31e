"""Pages of a draft: what is missing before it can be published, its parts, and a form for each."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from printworks.actions.product_pictures import DrawnPicture
from printworks.catalogue.drafts.draft import Draft, fingerprint_values
from printworks.catalogue.drafts.products import list_products
from printworks.catalogue.opening import read_catalogue, read_drawable
from printworks.catalogue.problems import BadCatalogue, CatalogueProblem, Place
from printworks.dashboard.console.drafts.editing import (
    OpenDraft,
    change_draft,
    open_draft,
    read_values,
    refuse_older,
    refuse_wrong,
    show_groups,
)
from printworks.dashboard.console.drafts.inputs import Typed
from printworks.dashboard.console.drafts.parts import PARTS, PRODUCTS, Entry, Part
from printworks.dashboard.console.drafts.pictures import PICTURE, receive_picture
from printworks.dashboard.shared.labels import COUNTRY_CHOICES
from printworks.dashboard.shared.paging import choose_page
from printworks.dashboard.shared.product_pictures import draw_product
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import NotFound
from printworks.rules.people import Duty
from printworks.rules.search import simplify

_ROWS: Final = 24
_MOST_PROBLEMS: Final = 50
EDIT: Final = "/console/versions/{id}/edit"
# Keys of the files that have a page of their own.
_BASICS: Final = frozenset({"currencies", "kinds", "bands", "rates"})


class ShownProblem(NamedTuple):
    """What is in the way of publishing, and where it can be changed."""

    sentence: str
    address: str


class PartLine(NamedTuple):
    """A part, and how many there are of it."""

    part: Part
    number: int


@page_at(EDIT)
def show_draft(visit: ConsoleVisit) -> Response:
    """Show the parts of a draft, and what is missing before it can be published."""
    opened = open_draft(visit, visit.db)
    problems = list_problems(opened.draft, edit_address(opened))
    return visit.render(
        "console/drafts/draft.html",
        opened=opened,
        lines=[PartLine(part, len(part.list_entries(opened.draft))) for part in PARTS.values()],
        problems=problems[:_MOST_PROBLEMS],
        problem_count=len(problems),
        known=opened.known,
    )


def edit_address(opened: OpenDraft) -> str:
    """Return where a draft is changed."""
    return f"/console/versions/{opened.version.id}/edit"


def list_problems(draft: Draft, edit: str) -> list[ShownProblem]:
    """Return what is in the way of publishing a draft, each with the page that changes it."""
    try:
        read_catalogue(draft.texts)
    except BadCatalogue as error:
        return [
            ShownProblem(problem.sentence, _find_page(draft, edit, error.places, problem))
            for problem in error.problems
        ]
    return []


def _find_page(
    draft: Draft,
    edit: str,
    places: Mapping[CatalogueProblem, Place],
    problem: CatalogueProblem,
) -> str:
    place = places[problem]
    table = str(place[0]) if place else ""
    if table in _BASICS:
        return f"{edit}/basics"
    if table == "products" and len(place) > 1:
        alike = [one for one in list_products(draft) if one.position == place[1]]
        # What a family shares is shown with its first product.
        row = place[3] if place[2:3] == ("rows",) and len(place) > 3 else 0
        found = [one.sku for one in alike if (one.row or 0) == row]
        return f"{edit}/products/{found[0]}" if found else f"{edit}/products"
    if table in PARTS and len(place) > 1:
        entries = PARTS[table].list_entries(draft)
        named = [one.name for one in entries if place[1] == one.title]
        named += [entries[place[1]].name] if isinstance(place[1], int) else []
        return f"{edit}/{table}/{named[0]}" if named else f"{edit}/{table}"
    return edit


@page_at(f"{EDIT}/{{part}}")
def show_part(visit: ConsoleVisit) -> Response:
    """Show what a draft has of one part, a page at a time."""
    part = _find_part(visit)
    opened = open_draft(visit, visit.db)
    found = _search(part.list_entries(opened.draft), visit.search_text)
    page = choose_page(visit, found, _ROWS)
    return visit.render(
        "console/drafts/part.html",
        opened=opened,
        words=part.words,
        entries=page.shown,
        pages=page.links,
        first=page.first,
        total=len(found),
        text=visit.search_text,
        drawable=read_drawable(opened.draft.texts) if part is PRODUCTS else {},
        draw=draw_product,
        currencies=opened.known.currencies,
    )


def _search(entries: Sequence[Entry], text: str) -> list[Entry]:
    words = simplify(text).split()
    return [
        entry
        for entry in entries
        if all(
            word in simplify(f"{entry.name} {entry.title} {entry.values.get('kind', '')}")
            for word in words
        )
    ]


def _find_part(visit: ConsoleVisit) -> Part:
    part = PARTS.get(str(visit.request.path_params["part"]))
    if part is None:
        raise NotFound("A catalogue has no such part.")
    return part


def _find_entry(part: Part, opened: OpenDraft, name: str) -> Entry | None:
    wanted = name.casefold()
    entries = part.list_entries(opened.draft)
    return next((one for one in entries if one.name.casefold() == wanted), None)


def _get_entry(visit: ConsoleVisit, part: Part, opened: OpenDraft) -> Entry:
    entry = _find_entry(part, opened, str(visit.request.path_params["name"]))
    if entry is None:
        raise NotFound(f"There is no such {part.words.noun} in this version.")
    return entry


@page_at(f"{EDIT}/new/{{part}}")
def show_new(visit: ConsoleVisit) -> Response:
    """Show a form for something new, empty or like another one."""
    part = _find_part(visit)
    opened = open_draft(visit, visit.db)
    like = _find_entry(part, opened, visit.query.get("like", ""))
    return _show_form(visit, part, opened, None, like.values if like else {})


@show_new.action("add-catalogue-entry", "It was added.", duty=Duty.ADMINISTER, alone=True)
def add_entry(visit: ConsoleVisit) -> str:
    """Add it to the draft."""
    part = _find_part(visit)
    picture = receive_picture(visit, part)

    def edit(opened: OpenDraft) -> str:
        values = _read(visit, part, opened, None, picture)
        part.save(opened.draft, None, values)
        return f"{part.words.noun} {_name(values)} added"

    return _save(visit, part, edit, picture)


@page_at(f"{EDIT}/{{part}}/{{name}}")
def show_entry(visit: ConsoleVisit) -> Response:
    """Show the form of one product, lab or tariff."""
    part = _find_part(visit)
    opened = open_draft(visit, visit.db)
    entry = _get_entry(visit, part, opened)
    return _show_form(visit, part, opened, entry, entry.values)


@show_entry.action("save-catalogue-entry", "It was saved.", duty=Duty.ADMINISTER, alone=True)
def save_entry(visit: ConsoleVisit) -> str:
    """Save what was changed, if nobody else has changed it meanwhile."""
    part = _find_part(visit)
    picture = receive_picture(visit, part)

    def edit(opened: OpenDraft) -> str:
        entry = _get_unchanged(visit, part, opened)
        values = _read(visit, part, opened, entry, picture)
        part.save(opened.draft, entry, values)
        changed = [key for key in {**entry.values, **values} if _differs(key, entry.values, values)]
        return f"{part.words.noun} {_name(values)}: {', '.join(changed) or 'nothing'}"

    return _save(visit, part, edit, picture)


@show_entry.action("remove-catalogue-entry", "It was removed.", duty=Duty.ADMINISTER, alone=True)
def remove_entry(visit: ConsoleVisit) -> str:
    """Remove it from the draft."""
    part = _find_part(visit)

    def edit(opened: OpenDraft) -> str:
        entry = _get_unchanged(visit, part, opened)
        part.remove(opened.draft, entry)
        return f"{part.words.noun} {_name(entry.values)} removed"

    return _save(visit, part, edit)


def _show_form(
    visit: ConsoleVisit,
    part: Part,
    opened: OpenDraft,
    entry: Entry | None,
    values: Mapping[str, Any],
) -> Response:
    known = opened.known
    product = read_drawable(opened.draft.texts).get(entry.name) if entry else None
    return visit.render(
        "console/drafts/entry.html",
        opened=opened,
        words=part.words,
        entry=entry,
        groups=show_groups(part.words.groups, values, known, visit.wrong_fields),
        seen=fingerprint_values(entry.values if entry else None),
        countries=[name for _, name in COUNTRY_CHOICES],
        known=known,
        product=product if part is PRODUCTS else None,
        draw=draw_product,
        is_mine=visit.may(Duty.ADMINISTER) and opened.may_change,
    )


def _get_unchanged(visit: ConsoleVisit, part: Part, opened: OpenDraft) -> Entry:
    entry = _get_entry(visit, part, opened)
    refuse_older(visit, entry.values, part.words.noun)
    return entry


def _read(
    visit: ConsoleVisit,
    part: Part,
    opened: OpenDraft,
    entry: Entry | None,
    picture: DrawnPicture | None,
) -> dict[str, Any]:
    typed, groups = Typed(visit.sent), part.words.groups
    values = read_values(groups, typed, opened.known, entry.values if entry else {})
    if picture is not None:
        values[PICTURE] = picture.name
    refuse_wrong(groups, typed, part.check(opened.draft, entry, values))
    return values


def _save(
    visit: ConsoleVisit,
    part: Part,
    edit: Callable[[OpenDraft], str],
    picture: DrawnPicture | None = None,
) -> str:
    edit_page, sku = f"/console/versions/{visit.number('id')}/edit", visit.sent.text("sku")
    where = f"{edit_page}/{part.words.key}"
    if visit.sent.text("then") == "copy" and sku:
        where = f"{edit_page}/new/{part.words.key}?{urlencode({'like': sku})}"
    change_draft(visit, edit, where=where, pictures=[picture] if picture else [])
    return where


def _differs(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return bool(before.get(key) != after.get(key))


def _name(values: Mapping[str, Any]) -> str:
    return str(values.get("sku") or values.get("code") or values.get("name") or "")
