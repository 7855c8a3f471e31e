"""A merchant's home: what needs somebody, how it goes, and what to do first."""

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from printworks.actions.news import put_first_steps_away
from printworks.dashboard.merchant.home.first_steps import list_steps
from printworks.dashboard.merchant.home.needs import list_needs
from printworks.dashboard.shared.charts import Chart, ChartOptions, Series, make_chart
from printworks.dashboard.shared.labels import count
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.people import Duty
from printworks.store.orders.search import OrderLine, OrderSearch, search_orders
from printworks.store.views.home.days import DAYS, DayOfShop, count_days
from printworks.store.views.home.pictures import find_first_images

_NEWEST: Final = 6


@page_at("/home", forms=Duty.LOOK)
def show_home(visit: MerchantVisit) -> Response:
    """Show what needs somebody, the newest orders, and the figures of the last days."""
    merchant_id = visit.merchant.id
    needs = list_needs(visit)
    hides_steps = visit.person.hides_first_steps
    steps = [] if hides_steps else list_steps(visit)
    newest = search_orders(visit.db, merchant_id, OrderSearch(), before=None, limit=_NEWEST).orders
    pictures = _find_pictures(visit, newest)
    # Not the addresses of pictures: they are signed anew.
    etag = visit.etag(needs, steps, newest, sorted(pictures))
    is_refresh = "hx-request" in visit.request.headers
    return visit.render(
        "merchant/home.html",
        etag=etag,
        needs=needs,
        steps=steps,
        steps_done=sum(step.is_done for step in steps),
        hides_steps=hides_steps,
        newest=newest,
        pictures=pictures,
        # A refresh takes only what is above them from the page.
        charts=[] if is_refresh else _draw_charts(visit),
        days=DAYS,
        may_order=visit.may(Duty.ORDER),
    )


def _find_pictures(visit: MerchantVisit, newest: Sequence[OrderLine]) -> dict[int, str]:
    links = visit.links
    firsts = find_first_images(visit.db, [line.id for line in newest])
    return {order_id: links.proofs(image_id)[1] for order_id, image_id in firsts.items()}


def _draw_charts(visit: MerchantVisit) -> list[Chart]:
    merchant = visit.merchant
    days = count_days(visit.db, merchant.id, merchant.currency, now=visit.now)
    charts = [chart_orders(days)]
    if visit.may(Duty.ACCOUNT):
        charts.append(chart_spending(days, merchant.currency))
    return charts


def chart_orders(days: Sequence[DayOfShop]) -> Chart:
    """Chart how many orders were submitted."""
    total = sum(day.orders for day in days)
    return make_chart(
        "Orders submitted",
        [day.day for day in days],
        [Series("Orders", [day.orders for day in days])],
        ChartOptions(summary=count(total, "order")),
    )


def chart_spending(days: Sequence[DayOfShop], currency: str) -> Chart:
    """Chart what was charged for them."""

    def write(amount: int) -> str:
        return format_money(amount, currency)

    total = sum(day.spent for day in days)
    options: dict[str, Any] = {"summary": f"{write(total)} before refunds", "write": write}
    return make_chart(
        "What they cost you",
        [day.day for day in days],
        [Series("Charged", [day.spent for day in days])],
        ChartOptions(**options, write_axis=lambda amount: write(amount).removesuffix(".00")),
    )


@show_home.action("hide-first-steps", "The first steps are hidden.")
def hide_steps(visit: MerchantVisit) -> None:
    put_first_steps_away(visit.work, visit.person.id, is_hidden=True)


@show_home.action("show-first-steps")
def show_steps(visit: MerchantVisit) -> str:
    """Show the list of first steps again."""
    put_first_steps_away(visit.work, visit.person.id, is_hidden=False)
    return "/home"
