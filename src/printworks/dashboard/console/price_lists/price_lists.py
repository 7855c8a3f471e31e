"""Price lists and the groups that they are for: made, filled, assigned to merchants and ended."""

import csv
import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions import price_lists as actions
from printworks.actions.losses import PriceLoss, find_list_losses
from printworks.actions.price_lists import ListTerms
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.forms import at_field
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput, NotFound
from printworks.rules.people import Duty
from printworks.rules.price_list_reading import read_percent, write_lines, write_percent
from printworks.rules.price_lists import PriceList, PriceListState, find_list_state
from printworks.rules.spreadsheets import as_text
from printworks.store.accounts.merchants import Merchant, get_merchant, get_merchant_by_code
from printworks.store.money.price_lists import (
    GroupMember,
    MerchantGroup,
    count_members,
    get_group,
    get_list,
    list_groups,
    list_list_changes,
    list_lists,
    list_members,
)

_ROWS: Final = 20
_MOST_GROUPS: Final = 100
_MOST_CHANGES: Final = 30
_MOST_LINES: Final = 200
_MOST_LOSSES: Final = 10
# What is done to a list, as its history says it.
_CHANGES: Final = {
    "add-prices": "Added",
    "change-prices": "Changed",
    "import-prices": "Lines replaced",
    "assign-prices": "Assignment changed",
    "suspend-prices": "Suspended",
    "resume-prices": "Resumed",
    "end-prices": "Ended",
}


class ListRow(msgspec.Struct, frozen=True):
    """A list, and whether it is used."""

    found: PriceList
    state: PriceListState
    percent: str


@page_at("/console/prices")
def show_lists(visit: ConsoleVisit) -> Response:
    """Show the price lists, newest first, and the groups of merchants."""
    found, last = cut(list_lists(visit.db, before=visit.cursor(), limit=_ROWS + 1), _ROWS)
    groups = list_groups(visit.db, limit=_MOST_GROUPS)
    opened = visit.cursor("group")
    group = None if opened is None else get_group(visit.db, opened)
    members, last_member = _read_members(visit, group)
    return visit.render(
        "console/prices.html",
        rows=[_describe(visit, one) for one in found],
        groups=groups,
        counts=count_members(visit.db, [one.id for one in groups]),
        group=group,
        members=members,
        member_pages=visit.pages(last_member.id if last_member else None, by="members"),
        group_choices=[(one.id, one.name) for one in groups],
        pages=visit.pages(last.id if last else None),
        is_mine=visit.may(Duty.ADMINISTER),
    )


@show_lists.action(
    "add-prices", "The list was added. It is not assigned yet.", duty=Duty.ADMINISTER
)
def add_list(visit: ConsoleVisit) -> str:
    added = actions.add_list(visit.system_work, _read_terms(visit))
    return f"/console/prices/{added.id}"


@show_lists.action("add-group", "The group was added.", duty=Duty.ADMINISTER)
def add_group(visit: ConsoleVisit) -> None:
    actions.add_group(visit.system_work, visit.sent.text("group"))


@show_lists.action(
    "put-into-group", "The merchant was moved.", duty=Duty.ADMINISTER, needs_password=True
)
def put_into_group(visit: ConsoleVisit) -> None:
    merchant = _find_merchant(visit, visit.sent.text("merchant").strip())
    actions.put_into_group(visit.system_work, merchant, _find_group(visit, "into"))


@page_at("/console/prices/{id}")
def show_list(visit: ConsoleVisit) -> Response:
    """Show a list: what it says, whose it is, and what was changed."""
    found = get_list(visit.db, visit.number("id"))
    rows = list(write_lines(found.lines))[1:]
    row = _describe(visit, found)
    is_over = row.state is PriceListState.ENDED
    losses = [] if is_over else list(find_list_losses(visit.services.catalogue, found))
    return visit.render(
        "console/price_list.html",
        row=row,
        lines=rows[:_MOST_LINES],
        line_count=len(rows),
        losses=[_describe_loss(one) for one in losses[:_MOST_LOSSES]],
        loss_count=len(losses),
        merchant=get_merchant(visit.db, found.merchant_id) if found.merchant_id else None,
        group=get_group(visit.db, found.group_id) if found.group_id else None,
        groups=[(one.id, one.name) for one in list_groups(visit.db, limit=_MOST_GROUPS)],
        changes=list_list_changes(visit.db, found.id, limit=_MOST_CHANGES),
        change_words=_CHANGES,
        may_change=visit.may(Duty.ADMINISTER) and not is_over,
    )


@show_list.action(
    "change-prices", "The list was changed.", duty=Duty.ADMINISTER, needs_password=True
)
def change_list(visit: ConsoleVisit) -> None:
    seen = visit.sent.number("seen")
    actions.change_list(visit.system_work, visit.number("id"), _read_terms(visit), seen=seen)


@show_list.action(
    "import-prices", "The lines were replaced.", duty=Duty.ADMINISTER, needs_password=True
)
def import_lines(visit: ConsoleVisit) -> None:
    files = visit.sent.files.get("file", ())
    if not files:
        raise BadInput("Choose a CSV file.", field="file")
    content = files[0].file.read()
    with at_field("file"):
        actions.import_lines(visit.system_work, visit.number("id"), content)


@show_list.action(
    "assign-prices", "The assignment was changed.", duty=Duty.ADMINISTER, needs_password=True
)
def assign(visit: ConsoleVisit) -> None:
    code, group = visit.sent.text("merchant").strip(), _find_group(visit, "group")
    if code and group is not None:
        raise BadInput("Choose either a merchant or a group.", field="merchant")
    if code:
        merchant = _find_merchant(visit, code)
        actions.assign_to_merchant(visit.system_work, visit.number("id"), merchant)
    elif group is not None:
        actions.assign_to_group(visit.system_work, visit.number("id"), group)
    else:
        actions.take_away(visit.system_work, visit.number("id"))


@show_list.action(
    "suspend-prices", "The list is suspended.", duty=Duty.ADMINISTER, needs_password=True
)
def suspend(visit: ConsoleVisit) -> None:
    actions.suspend_list(visit.system_work, visit.number("id"))


@show_list.action(
    "resume-prices", "The list was resumed.", duty=Duty.ADMINISTER, needs_password=True
)
def resume(visit: ConsoleVisit) -> None:
    actions.resume_list(visit.system_work, visit.number("id"))


@show_list.action("end-prices", "The list has ended.", duty=Duty.ADMINISTER, needs_password=True)
def end(visit: ConsoleVisit) -> None:
    actions.end_list(visit.system_work, visit.number("id"))


@page_at("/console/prices/{id}/lines.csv")
def download_lines(visit: ConsoleVisit) -> Response:
    """Return the lines of a list as a table."""
    found = get_list(visit.db, visit.number("id"))
    text = _write_csv(list(write_lines(found.lines)))
    headers = {
        "Content-Disposition": f'attachment; filename="price-list-{found.id}.csv"',
        "Cache-Control": "no-store",
    }
    return Response(text.encode("utf-8-sig"), media_type="text/csv", headers=headers)


def _write_csv(rows: Sequence[Sequence[str]]) -> str:
    written = io.StringIO(newline="")
    csv.writer(written).writerows([[as_text(cell) for cell in row] for row in rows])
    return written.getvalue()


def _describe(visit: ConsoleVisit, found: PriceList) -> ListRow:
    state = find_list_state(found, visit.real_now)
    return ListRow(found, state, write_percent(found.percent_off))


def _describe_loss(loss: PriceLoss) -> str:
    copies = f" from {loss.from_copies:,} copies on" if loss.from_copies > 1 else ""
    price = format_money(loss.price, loss.currency)
    cost = format_money(loss.cost, loss.currency)
    return f"{loss.sku}{copies} is sold for {price} and costs at least {cost}."


def _read_members(
    visit: ConsoleVisit, group: MerchantGroup | None
) -> tuple[Sequence[GroupMember], GroupMember | None]:
    if group is None:
        return [], None
    found = list_members(visit.db, group.id, before=visit.cursor("members"), limit=_ROWS + 1)
    return cut(found, _ROWS)


def _read_terms(visit: ConsoleVisit) -> ListTerms:
    sent = visit.sent
    return ListTerms(
        name=sent.text("name"),
        percent_off=read_percent(sent.text("percent_off")),
        valid_from=_read_time(sent.text("valid_from"), "valid_from"),
        valid_until=_read_time(sent.text("valid_until"), "valid_until"),
    )


def _find_merchant(visit: ConsoleVisit, code: str) -> Merchant:
    try:
        return get_merchant_by_code(visit.db, code)
    except NotFound:
        message = "No merchant has this ID. Their IDs are in the list of merchants."
        raise BadInput(message, field="merchant") from None


def _find_group(visit: ConsoleVisit, field: str) -> MerchantGroup | None:
    chosen = visit.sent.text(field)
    return get_group(visit.db, visit.sent.number(field) or 0) if chosen else None


def _read_time(text: str, field: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        message = "Enter a date and a time, such as 2027-01-31T08:00."
        raise BadInput(message, field=field) from None
