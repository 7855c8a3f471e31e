"""What the operator calls the service and how it looks, for merchants, recipients and labs."""

from starlette.responses import Response

from printworks.actions.accounts.shops import LARGEST_LOGO
from printworks.actions.brand import change_brand, change_brand_logo
from printworks.dashboard.shared.logos import address_of_logo
from printworks.dashboard.shared.sent_logos import take_logo
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.brand import LONGEST, USUAL_NAME, Brand
from printworks.rules.people import Duty


@page_at("/console/brand", forms=Duty.ADMINISTER)
def show_brand(visit: ConsoleVisit) -> Response:
    """Show the brand, and let it be changed."""
    # Read again now, so that whoever has just changed it sees the page as it will look.
    stored, sent = visit.services.brand_watch.look(), visit.sent
    is_typed = sent.text("do") == "change-brand"
    return visit.render(
        "console/brand.html",
        stored=stored,
        said=_read(visit) if is_typed else stored.brand,
        logo=address_of_logo(stored.logo) if stored.logo else "",
        largest=LARGEST_LOGO // 1_000_000,
        longest=LONGEST,
        usual=USUAL_NAME,
        settings=visit.services.settings,
    )


@show_brand.action("change-brand", "The brand was saved. Every page follows within seconds.")
def save_brand(visit: ConsoleVisit) -> None:
    """Change the name, the colour, the sender, the texts, and what merchants see of labs."""
    change_brand(visit.system_work, _read(visit))


def _read(visit: ConsoleVisit) -> Brand:
    sent = visit.sent
    texts = {name: sent.text(name) for name in LONGEST}
    return Brand(**texts, show_labs=bool(sent.text("show_labs")))


@show_brand.action("change-brand-logo", "The logo was saved.", alone=True)
def replace_logo(visit: ConsoleVisit) -> None:
    """Render a picture that was sent, and make it the logo of the service."""
    take_logo(visit, visit.system_work_in, change_brand_logo)


@show_brand.action("remove-brand-logo", "The logo was removed.")
def remove_logo(visit: ConsoleVisit) -> None:
    change_brand_logo(visit.system_work, None, None)
