"""An operator with a shell, and orders to look after.

The catalogue has one product and two labs: Hill, which is cheaper, and Dale.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from printworks.actions.images.images import add_images, record_image_status
from printworks.actions.orders.orders import create_order
from printworks.actions.submission.submit import submit_order
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import system_clock
from printworks.rules.images import ImageStatus
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage, get_image
from printworks.store.orders.orders import Order, get_order
from printworks.store.orders.shipments import Shipment, list_shipments
from tests.catalogue.folders import a_lab, a_service, a_whole_folder
from tests.cli.program import run
from tests.commands import Ended
from tests.factories import a_merchant, a_new_order, a_work

SKU: Final = "PHOTO-4X6"
ADDRESS: Final = {"address1": "1 High Street", "town_or_city": "York", "postal_code": "YO1 1AA"}
# More digits than any column holds.
NO_NUMBER: Final = "12345678901234567890"


@dataclass(frozen=True)
class Operator:
    """Somebody with a shell on the machine where the database is."""

    database: Database
    merchant: Merchant
    data: Path
    catalogue: Path

    def asks(self, *words: str, **settings: str) -> Ended:
        """Run `printworks ...`."""
        url = self.database.url.render_as_string(hide_password=False)
        chosen = {"database_url": url, "catalogue": str(self.catalogue), **settings}
        return run(*words, "--data", self.data, **chosen)

    def reads(self, *words: str) -> Any:
        """Run a command that succeeds, and read the JSON that it prints."""
        ended = self.asks(*words, "--json")
        assert ended.code == 0, ended.complained
        return json.loads(ended.said)

    def adds_an_order(self, *, images: int = 1, **values: Any) -> Order:
        """Add an order with images that have been received."""
        catalogue = Catalogue.load(self.catalogue)
        with self.database.writing() as db:
            merchant = get_merchant(db, self.merchant.id)
            now = system_clock() + merchant.clock_offset
            new = a_new_order(**{**ADDRESS, **values})
            order = create_order(a_work(db, merchant, now=now), new)
            url = "https://shop.example/cat.jpg"
            pictures = [NewImage(sku=SKU, url=url, copies=2) for _ in range(images)]
            added = add_images(a_work(db, merchant, now=now, catalogue=catalogue), order, pictures)
            for image in added:
                record_image_status(
                    a_work(db, merchant, now=now),
                    get_image(db, image.id),
                    ImageStatus.OK,
                    width=1200,
                    height=1800,
                )
        return self.order(order)

    def submits_an_order(self, **values: Any) -> tuple[Order, Shipment]:
        """Add an order and hand it in; return it and its only shipment."""
        order = self.adds_an_order(**values)
        catalogue = Catalogue.load(self.catalogue)
        with self.database.writing() as db:
            merchant = get_merchant(db, self.merchant.id)
            now = system_clock() + merchant.clock_offset
            submit_order(a_work(db, merchant, now=now, catalogue=catalogue), order)
        [shipment] = self.shipments(order)
        return self.order(order), shipment

    def order(self, order: Order) -> Order:
        """Return an order as it is by now."""
        with self.database.reading() as db:
            return get_order(db, order.merchant_id, order.id)

    def shipments(self, order: Order) -> list[Shipment]:
        """Return the shipments of an order that count."""
        with self.database.reading() as db:
            return list_shipments(db, order.id)


def make_operator(database: Database, folder: Path) -> Operator:
    """Let a merchant in, and write the catalogue."""
    dale = a_lab(
        '{ kinds = ["print"], percent = 60 }',
        code='"dale"',
        name='"Dale"',
        can_hold_until='"accepted"',
    )
    hill = a_lab(can_hold_until='"accepted"')
    service = a_service(labs='["hill", "dale"]')
    catalogue = a_whole_folder(folder, labs=hill + dale, services=service)
    with database.writing() as db:
        merchant = a_merchant(db)
    return Operator(database, merchant, folder, catalogue)
