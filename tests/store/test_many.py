"""Rows that are added with one statement are the rows that one statement each would add."""

from typing import Any, Final

import msgspec
import pytest

from printworks.rules.images import AcceptedFiles
from printworks.rules.sizing import Sizing
from printworks.store.engine.database import Database
from printworks.store.images.images import Image, NewImage, insert_images, list_images
from tests.factories import NOON, a_merchant, an_order

AWKWARD: Final[list[dict[str, Any]]] = [
    {"sku": "PRINT", "url": None, "copies": 0},
    {"sku": "'); DROP TABLE images; --", "url": 'https://shop.example/"a"\\b%s:c?d', "copies": 1},
    {"sku": "ä€😀 ", "url": "https://shop.example/\t\n", "copies": 10_000},
    {"sku": "null", "url": "true", "copies": 7, "attributes": {"null": "[1]", "a": ""}},
    {"sku": "1e3", "url": "007", "copies": 7, "price": 2**53 + 1, "price_to_user": 10**12},
    {"sku": "{}", "url": "[]", "copies": 7, "sizing": Sizing.SHRINK_TO_FIT},
    {"sku": "x", "url": "x", "copies": 1, "expected_md5": "0" * 32, "formats": AcceptedFiles.JPEG},
]


def what_was_given(image: Image) -> dict[str, Any]:
    """Return an image without what it is known by."""
    return {**msgspec.structs.asdict(image), "id": 0, "order_id": 0}


@pytest.mark.parametrize("times", [1, 30])
def test_many_images_are_stored_as_if_each_came_alone(database: Database, times: int) -> None:
    new = [NewImage(**one) for one in AWKWARD] * times
    with database.writing() as db:
        merchant = a_merchant(db)
        alone, together = an_order(db, merchant), an_order(db, merchant)
        for one in new:
            insert_images(db, alone.id, [one], now=NOON)
        added = insert_images(db, together.id, new, now=NOON)
        one_by_one, at_once = list_images(db, alone.id), list_images(db, together.id)

    assert at_once == added
    assert [what_was_given(one) for one in at_once] == [what_was_given(one) for one in one_by_one]


def test_no_images_are_no_statement(database: Database) -> None:
    with database.writing() as db:
        assert insert_images(db, 1, [], now=NOON) == []
