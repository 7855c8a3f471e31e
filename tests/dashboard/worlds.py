"""Something of everything that a page can be about, so that every page can be opened."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select

from printworks.dashboard import console, merchant
from printworks.dashboard.site.router import Page
from printworks.files import open_files
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.issues.photos import NewPhoto, insert_photos
from printworks.store.tables import images, jobs
from tests.actions.complaints import a_draft
from tests.dashboard.scenes import complain_about, hand_in
from tests.dashboard.telling import last_callback, listen
from tests.dashboard.windows import Window, merchant_of
from tests.factories import NOON
from tests.worker.shops import A_PICTURE

AnyPage = Page[Any]
PAGES: Final[dict[Realm, Sequence[AnyPage]]] = {
    Realm.MERCHANT: merchant.PAGES,
    Realm.OPERATOR: console.PAGES,
}
# What stands in a path for something that there is.
_PARAMETER: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class World:
    """Where each page is that is about something of Alice's, or of the operator's."""

    # By the beginning of a page's path: what its parameters stand for.
    things: dict[str, dict[str, object]]

    def address_of(self, page: AnyPage, **instead: object) -> str:
        """Return where a page is; `instead` names other things than those that there are."""
        fitting = [start for start in self.things if page.path.startswith(start)]
        known = {**self.things.get(max(fitting, key=len, default=""), {}), **instead}
        return _PARAMETER.sub(lambda found: str(known[found[1]]), page.path)


def make_world(
    database: Database, settings: Settings, folder: Path, alice: Window, operator: Window
) -> World:
    """Let Alice have an order, a job at a lab, an issue with a photograph, and callbacks."""
    listen(database, alice)
    with database.writing() as db:
        draft = a_draft(db, merchant_of(db, alice))
    order, shipment = hand_in(database, alice)
    issue = complain_about(database, alice)
    photograph = folder / "photograph.jpg"
    photograph.write_bytes(A_PICTURE)
    open_files(settings).put("photographs/1.jpg", photograph)
    with database.writing() as db:
        insert_photos(db, issue, [NewPhoto("photographs/1.jpg", 600, 900)], now=NOON)
        image = (
            db.execute(select(images.c.id).where(images.c.order_id == order.id)).scalars().first()
        )
        job = db.execute(select(jobs.c.id)).scalars().first()
    assert operator.person is not None
    about_issue: dict[str, object] = {"id": issue.id, "photo": 1}
    return World(
        {
            "/orders/": {"id": draft.id},
            "/issues/": about_issue,
            "/integrations/callbacks/": {"id": last_callback(database, alice)},
            "/console/orders/": {"id": order.id},
            "/console/shipments/": {"id": shipment.id, "image": image},
            "/console/issues/": about_issue,
            "/console/merchants/": {"code": alice.code},
            "/console/catalogue/": {"sku": "GLOBAL-PHO-4X6-PRO"},
            "/console/labs/": {"code": shipment.lab},
            "/console/jobs/": {"id": job},
            "/console/people/": {"id": operator.person.id},
        }
    )
