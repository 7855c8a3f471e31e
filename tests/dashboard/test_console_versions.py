"""An owner imports a catalogue in the browser, sees what changes, publishes it and goes back."""

import re

import pytest
from sqlalchemy import update

from printworks.catalogue.opening import open_catalogue
from printworks.rules.people import Role
from printworks.store.catalogue.versions import find_current
from printworks.store.engine.database import Database
from printworks.store.tables import catalogue_files
from tests.api.client import Server
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_console
from tests.factories import NOON
from tests.running import Answer

VERSIONS = "/console/versions"


def dearer_files() -> dict[str, bytes]:
    """Return the built-in files with other prices for the first photo print."""
    texts = dict(open_catalogue(None).texts)
    assert '"4x6"' in texts["prints.toml"]
    texts["prints.toml"] = re.sub(
        r"GBP = (\d+)", lambda m: f"GBP = {int(m[1]) + 7}", texts["prints.toml"]
    )
    return {name: text.encode() for name, text in texts.items()}


def import_files(window: Window, files: dict[str, bytes], title: str = "Dearer") -> Answer:
    """Choose files and press the button."""
    sent = [("files", name, content) for name, content in files.items()]
    return window.upload(VERSIONS, "import-catalogue", sent, title=title)


@pytest.mark.both_databases
def test_a_version_is_imported_looked_at_published_and_returned_from(
    operator: Window, database: Database
) -> None:
    assert "No versions yet" in operator.words(VERSIONS)
    page = import_files(operator, dearer_files()).headers["location"].partition("?")[0]

    said = operator.words(page)
    assert "Draft" in said
    assert "price GBP" in said
    assert operator.do(page, "publish-catalogue").status == 303
    assert "In use" in operator.words(page)
    with database.reading() as db:
        assert page == f"{VERSIONS}/{find_current(db, now=NOON)}"

    back = operator.do(f"{VERSIONS}/1", "roll-back-catalogue").headers["location"]
    said = operator.words(back.partition("?")[0])
    assert "Back to version 1" in said
    # What was in use before it, not what it is a copy of.
    assert f"Compared with version {page.rpartition('/')[2]}" in said
    assert "price GBP" in said
    assert "Not compared" in operator.words(f"{VERSIONS}/1")
    assert "Earlier" in operator.words(page)


def test_a_version_waits_is_withdrawn_and_deleted(operator: Window) -> None:
    page = import_files(operator, dearer_files()).headers["location"].partition("?")[0]

    refused = operator.do(page, "publish-catalogue", at="tomorrow")
    operator.do(page, "publish-catalogue", at="2026-12-24T08:00")
    waiting = operator.words(page)
    operator.do(page, "withdraw-catalogue")
    operator.do(page, "delete-catalogue")

    assert "Enter a date and a time" in words_of(refused)
    assert "Scheduled" in waiting
    assert operator.open(page).status == 404


def test_a_time_too_far_ahead_is_refused_at_its_field(operator: Window) -> None:
    page = import_files(operator, dearer_files()).headers["location"].partition("?")[0]

    refused = operator.do(page, "publish-catalogue", at="2036-01-01T00:00").body.decode()

    assert "at most 366 days ahead" in refused
    assert re.search(r'<input[^>]*name="at"[^>]*aria-invalid="true"', refused)


@pytest.mark.both_databases
def test_a_version_that_this_release_cannot_read_is_not_returned_to(
    operator: Window, database: Database
) -> None:
    page = import_files(operator, dearer_files()).headers["location"].partition("?")[0]
    operator.do(page, "publish-catalogue")
    with database.writing() as db:
        wrong = update(catalogue_files).where(catalogue_files.c.version_id == 1)
        db.execute(wrong.values(content="[[products]]\nsku = 7\n"))

    refused = operator.do(f"{VERSIONS}/1", "roll-back-catalogue")

    assert refused.status == 400
    assert "This release cannot use this version." in words_of(refused)
    assert "Not compared" in operator.words(page)


def test_what_is_wrong_with_files_is_named_by_file_and_line(operator: Window) -> None:
    files = dearer_files()
    files["gifts.toml"] = b"[[products]]\nsku = 7\n"

    refused = words_of(import_files(operator, files))

    assert "Nothing was imported" in refused
    assert "gifts.toml:2" in refused
    assert "No versions yet" in operator.words(VERSIONS)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "Choose the TOML files"),
        ({"cat.jpg": b"x"}, "Choose the TOML files"),
        ({"cat.txt": b"x"}, "Choose TOML files"),
        ({"a.toml": b"\xff"}, "must be written in UTF-8"),
    ],
)
def test_other_files_are_refused(operator: Window, files: dict[str, bytes], said: str) -> None:
    assert said in words_of(import_files(operator, files))


def test_who_only_looks_changes_nothing(
    operator: Window, server: Server, database: Database
) -> None:
    page = import_files(operator, dearer_files()).headers["location"].partition("?")[0]
    viewer = open_console(server, database, Role.VIEWER)

    assert "Publish" not in re.sub(r"Published?\b(?! it)", "", viewer.words(page))
    assert viewer.do(page, "publish-catalogue").status == 403
