"""The slip of a shop says what it may, in the words of the order."""

from pathlib import Path
from typing import Any

import pytest

from printworks.actions.accounts.shops import change_logo, change_profile
from printworks.actions.production.shop_slips import (
    SlipFacts,
    describe_slip,
    find_shop_slip,
    render_slip,
)
from printworks.files.folder import FolderFiles
from printworks.rules.shops import PLACEHOLDERS, ShopProfile
from printworks.store.accounts.shops import Logo, get_shop
from printworks.store.engine.database import Database
from tests.factories import NOON, a_merchant, a_work, an_order

EVERYTHING = " | ".join(f"{{{name}}}" for name in PLACEHOLDERS)
FACTS = SlipFacts("Erika", "", 7, NOON, ["2 prints"], "DE")


@pytest.mark.parametrize("reference", ["", "A-7"])
def test_every_word_is_filled_in_with_the_dates_of_the_reader(
    database: Database, tmp_path: Path, reference: str
) -> None:
    profile = ShopProfile(
        name="Fox",
        telephone="+44 123",
        website="https://fox.example",
        return_address="York",
        packing_slip=EVERYTHING,
        time_zone="Pacific/Auckland",
    )
    with database.writing() as db:
        merchant = a_merchant(db)
        change_profile(a_work(db, merchant), profile)
        change_logo(a_work(db, merchant), None, Logo("logos/gone.jpg", 1, 1))
        slip = describe_slip(db, get_shop(db, merchant.id), FACTS._replace(reference=reference))

    contact = "+44 123 \N{MIDDLE DOT} https://fox.example"
    order = reference or "7"
    assert (
        slip.text == f"Erika | {order} | 7 | 16. November 2026 | 2 prints | Fox | {contact} | York"
    )
    assert (slip.language, slip.foot) == ("de", f"York\n{contact}")
    # The logo was replaced a moment ago.
    assert b"<img" not in render_slip(FolderFiles(tmp_path), slip)


def test_there_is_none_where_labs_or_orders_have_their_own_way(database: Database) -> None:
    nothing: Any = None
    with database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant)
        own = an_order(db, merchant, packing_slip_url="https://fox.example/slip.png")

        assert find_shop_slip(db, order, nothing, can_pack=True) is None
        assert find_shop_slip(db, own, nothing, can_pack=True) is None
        assert find_shop_slip(db, order, nothing, can_pack=False) is None
