"""Merchants do not see which labs print for them, nor what those cost, unless the operator says so."""

import io
import re
import zipfile
from pathlib import Path
from typing import Final

import pytest

from printworks.actions.accounts.exporting import begin_merchant_export, write_merchant_archive
from printworks.actions.accounts.merchants import add_key
from printworks.api.endpoints import ApiFamily
from printworks.api.openapi import path_of
from printworks.catalogue.opening import open_catalogue
from printworks.files import open_files
from printworks.rules.keys import KeyLimits
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.web.families import FAMILIES
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.dashboard.scenes import hand_in, let_labs_be_seen
from tests.dashboard.telling import last_callback, listen
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of
from tests.dashboard.worlds import PAGES, World, make_world
from tests.factories import a_work

pytestmark = pytest.mark.slow

_PARAMETER: Final = re.compile(r"\{(\w+)\}")
_LABS: Final = open_catalogue(None).labs
# `Leeds` may be a town in an address, but not with the country of the lab beside it.
_NAMED: Final = re.compile(
    "|".join([*(rf"{lab.name} \(" for lab in _LABS), *(rf"\b{lab.code}\b" for lab in _LABS)])
)


@pytest.fixture
def world(
    database: Database, settings: Settings, tmp_path: Path, alice: Window, operator: Window
) -> World:
    """Something of everything that a merchant can see."""
    return make_world(database, settings, tmp_path, alice, operator)


def test_no_page_of_a_merchant_names_a_lab(
    world: World, alice: Window, operator: Window, clock: MovableClock
) -> None:
    addresses = {world.address_of(page) for page in PAGES[Realm.MERCHANT]}
    addresses |= {f"/orders/{number}" for number in range(1, 8)}
    named, seen = [], []
    for address in sorted(addresses):
        clock.advance(seconds=1)
        body = alice.open(address).body.decode(errors="replace")
        named += [f"{address}: {found}" for found in _NAMED.findall(body)]
    let_labs_be_seen(operator)
    for address in sorted(addresses):
        clock.advance(seconds=1)
        seen += _NAMED.findall(alice.open(address).body.decode(errors="replace"))

    assert named == []
    # Otherwise there would be nothing to hide.
    assert len(seen) > 5


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.version)
def test_no_answer_of_the_api_names_a_lab(
    alice: Window, database: Database, family: ApiFamily
) -> None:
    listen(database, alice)
    order, _ = hand_in(database, alice)
    with database.reading() as db:
        image = list_images(db, order.id)[0]
    known = {"orderId": order.id, "id": order.id, "imageId": image.id, "photoId": image.id}
    program = Client(alice.api.server, f"/{family.prefix}", alice.api.credentials)
    asked = [endpoint for endpoint in family.endpoints if endpoint.method == "GET"]

    answers = [
        program.get(_PARAMETER.sub(lambda found: str(known.get(found[1], "GB")), path_of(one)))
        for one in asked
    ]

    assert sum(answer.status == 200 for answer in answers) >= 4
    assert not [answer.body for answer in answers if _NAMED.search(answer.body.decode())]


def test_an_export_and_a_callback_name_no_lab(
    alice: Window, database: Database, settings: Settings
) -> None:
    listen(database, alice)
    hand_in(database, alice)
    with database.writing() as db:
        work = a_work(db, merchant_of(db, alice))
        export = begin_merchant_export(work, with_pictures=False, most_bytes=1_000_000)

    archive = io.BytesIO(b"".join(write_merchant_archive(database, open_files(settings), export)))
    told = alice.words(f"/integrations/callbacks/{last_callback(database, alice)}")

    with zipfile.ZipFile(archive) as opened:
        texts = [opened.read(name).decode() for name in opened.namelist()]
    assert len(texts) >= 3
    assert not [text for text in (told, *texts) if _NAMED.search(text)]


def test_a_key_for_one_lab_is_the_operators_to_make_and_says_no_name(
    alice: Window, database: Database
) -> None:
    refused = alice.do("/keys", "add-key", name="York", access="full", ends="", lab=_LABS[0].code)
    with database.writing() as db:
        add_key(a_work(db, merchant_of(db, alice)), KeyLimits("Till", lab=_LABS[0].code))

    page = alice.open("/keys")

    assert refused.status == 400
    assert "A key for one lab is made by the operator." in words_of(refused)
    assert "Only one lab" in words_of(page)
    assert not _NAMED.search(page.body.decode())
