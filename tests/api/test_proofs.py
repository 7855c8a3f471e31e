"""The addresses of proofs: whoever has one may look, and nobody can guess another."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import update

from printworks.actions.accounts.secrets import prepare_secrets
from printworks.files import open_files
from printworks.rules.mockups import Mockup
from printworks.settings import Settings
from printworks.store.accounts.secrets import LINKS, about_shared, find_secret, get_link_key, seal
from printworks.store.engine.database import Database
from printworks.store.images.images import get_image, update_image
from printworks.store.images.pictures import mockup_key, proof_key
from printworks.store.tables import schema, secrets
from printworks.web.app import build_app
from printworks.wire.links import Links
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.api.images import add, create, receive
from tests.factories import VAULT
from tests.running import Answer

THEIR_SECRET = update(secrets).where(secrets.c.name == LINKS)
PUBLIC_URL = "https://print.example"
PREVIEW = b"\xff\xd8\xff\xe0 the preview \xff\xd9" * 100
THUMBNAIL = b"\xff\xd8\xff\xe0 the thumbnail \xff\xd9"


@pytest.fixture
def browser(server: Server) -> Client:
    """Somebody who has an address and nothing else."""
    return Client(server, "", {})


@pytest.fixture
def image(v3: Client, database: Database, settings: Settings, tmp_path: Path) -> dict[str, str]:
    """An image that was received, with its proofs."""
    order_id = create(v3)
    image_id = add(v3, order_id)["id"]
    receive(database, image_id)
    for name, picture in (("preview", PREVIEW), ("thumbnail", THUMBNAIL)):
        drawn = tmp_path / "drawn.jpg"
        drawn.write_bytes(picture)
        open_files(settings).put(proof_key(image_id, name), drawn)
    shown: dict[str, str] = v3.get(f"/orders/{order_id}").data["images"][0]
    return shown


def path_of(url: str) -> str:
    """Return what comes after the public address."""
    assert url.startswith(f"{PUBLIC_URL}/proofs/")
    return url.removeprefix(PUBLIC_URL)


def assert_not_found(answer: Answer) -> None:
    """Make sure that an answer tells nothing."""
    assert answer.status == 404
    assert b"There is nothing at this address." in answer.body
    assert "etag" not in answer.headers


@pytest.mark.both_databases
def test_the_address_that_an_order_shows_leads_to_the_picture(
    browser: Client, image: dict[str, str]
) -> None:
    preview = browser.get(path_of(image["previewUrl"]))
    thumbnail = browser.get(path_of(image["thumbnailUrl"]))

    assert (preview.status, preview.body) == (200, PREVIEW)
    assert (thumbnail.status, thumbnail.body) == (200, THUMBNAIL)


@pytest.mark.both_databases
def test_a_mockup_is_shown_once_it_is_drawn(
    v3: Client,
    browser: Client,
    image: dict[str, str],
    database: Database,
    settings: Settings,
    tmp_path: Path,
) -> None:
    assert not image["mockupUrl"]
    image_id = int(image["id"])
    with database.writing() as db:
        shown = get_image(db, image_id)
        update_image(db, shown, {"mockup": Mockup.PRINT})
    drawn = tmp_path / "mockup.jpg"
    drawn.write_bytes(PREVIEW)
    open_files(settings).put(mockup_key(image_id), drawn)

    [after] = v3.get(f"/orders/{shown.order_id}").data["images"]

    assert after["mockupUrl"] == image["previewUrl"].replace("preview.jpg", "mockup.jpg")
    assert browser.get(path_of(after["mockupUrl"])).body == PREVIEW
    others = {name: value for name, value in after.items() if name != "mockupUrl"}
    assert others == {name: value for name, value in image.items() if name != "mockupUrl"}


def test_a_proof_is_a_picture_and_nothing_else_to_a_browser(
    browser: Client, image: dict[str, str]
) -> None:
    headers = browser.get(path_of(image["previewUrl"])).headers

    assert headers["content-type"] == "image/jpeg"
    assert headers["content-length"] == str(len(PREVIEW))
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert headers["cache-control"] == "private, max-age=31536000, immutable"
    assert headers["strict-transport-security"] == "max-age=31536000"
    assert len(headers["x-request-id"]) >= 16


def test_a_browser_that_has_the_picture_is_not_sent_it_again(
    browser: Client, image: dict[str, str]
) -> None:
    path = path_of(image["previewUrl"])
    etag = browser.get(path).headers["etag"]

    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = browser.request("GET", path, headers={"If-None-Match": known})

        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == etag
        assert again.headers["cache-control"] == "private, max-age=31536000, immutable"


@pytest.mark.parametrize("known", ['"other"', "", ",", '"' + "0" * 32 + '"', "nonsense"])
def test_a_browser_that_has_another_picture_is_sent_this_one(
    browser: Client, image: dict[str, str], known: str
) -> None:
    path = path_of(image["previewUrl"])

    answer = browser.request("GET", path, headers={"If-None-Match": known})

    assert (answer.status, answer.body) == (200, PREVIEW)


def test_preview_and_thumbnail_have_tags_of_their_own(
    browser: Client, image: dict[str, str]
) -> None:
    preview = browser.get(path_of(image["previewUrl"])).headers["etag"]
    thumbnail = browser.get(path_of(image["thumbnailUrl"])).headers["etag"]

    assert preview != thumbnail
    assert preview.startswith('"')
    assert preview.endswith('"')


def test_head_tells_of_the_picture(browser: Client, image: dict[str, str]) -> None:
    path = path_of(image["previewUrl"])

    head = browser.request("HEAD", path)

    assert head.status == 200
    assert head.body == b""
    assert head.headers["content-length"] == str(len(PREVIEW))
    assert head.headers["etag"] == browser.get(path).headers["etag"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_proof_can_only_be_looked_at(browser: Client, image: dict[str, str], method: str) -> None:
    assert browser.request(method, path_of(image["previewUrl"])).status == 405


@pytest.mark.parametrize(
    "wrong",
    [
        "0" * 32, "x", "%20", "%00", "%C3%A9", "%E2%82%AC" * 32, "%ff", "..", "%2e%2e", "null",
        "a" * 5000,
    ],
)  # fmt: skip
def test_another_signature_shows_nothing(
    browser: Client, image: dict[str, str], wrong: str
) -> None:
    assert_not_found(browser.get(f"/proofs/{image['id']}/{wrong}/preview.jpg"))


def test_a_signature_counts_as_a_whole_only(browser: Client, image: dict[str, str]) -> None:
    _, _, image_id, signature, name = path_of(image["previewUrl"]).split("/")

    assert len(signature) == 32
    for wrong in (signature[:-1], f"{signature}0", signature[::-1], f"{signature}%20", ""):
        assert_not_found(browser.get(f"/proofs/{image_id}/{wrong}/{name}"))


def test_the_signature_of_another_image_is_of_no_use(
    v3: Client, database: Database, browser: Client, image: dict[str, str]
) -> None:
    order_id = create(v3)
    receive(database, add(v3, order_id)["id"])
    [other] = v3.get(f"/orders/{order_id}").data["images"]
    signature = path_of(other["previewUrl"]).split("/")[3]

    assert_not_found(browser.get(f"/proofs/{image['id']}/{signature}/preview.jpg"))


def test_an_address_is_found_in_any_case_like_every_other(
    browser: Client, image: dict[str, str]
) -> None:
    assert browser.get(path_of(image["previewUrl"]).upper()).body == PREVIEW


@pytest.mark.parametrize(
    "name", ["print.jpg", "original.jpg", ".jpg", "preview", "preview.png", "..%2fpreview.jpg"]
)
def test_a_signature_opens_nothing_but_the_proofs(
    browser: Client, image: dict[str, str], name: str
) -> None:
    folder = path_of(image["previewUrl"]).rpartition("/")[0]

    assert_not_found(browser.get(f"{folder}/{name}"))


@pytest.mark.parametrize("image_id", ["0", "-1", "x", "999999", "9" * 30, "9" * 5000, "\u0661"])
def test_an_image_that_does_not_exist_has_no_proofs(
    browser: Client, image: dict[str, str], image_id: str
) -> None:
    signature = path_of(image["previewUrl"]).split("/")[3]

    assert_not_found(browser.get(f"/proofs/{image_id}/{signature}/preview.jpg"))


def test_a_proof_whose_file_is_gone_is_not_found(
    browser: Client, image: dict[str, str], settings: Settings
) -> None:
    open_files(settings).delete(proof_key(int(image["id"]), "preview"))

    assert_not_found(browser.get(path_of(image["previewUrl"])))
    assert browser.get(path_of(image["thumbnailUrl"])).status == 200


def test_an_image_that_was_not_received_has_no_addresses(v3: Client) -> None:
    image = add(v3, create(v3))

    assert image["previewUrl"] is image["thumbnailUrl"] is None


def test_addresses_stay_the_same(v3: Client, image: dict[str, str]) -> None:
    [order] = v3.get("/orders").data["content"]

    assert order["images"] == [image]


class TestAnotherDeployment:
    @pytest.fixture
    def elsewhere(
        self, database: Database, image: dict[str, str], settings: Settings, clock: MovableClock
    ) -> Iterator[Client]:
        """A deployment with the same images and the same files, but another secret."""
        with database.writing() as db:
            secret = find_secret(db, LINKS)
            other = seal(db, VAULT, "another secret", about=about_shared(LINKS))
            db.execute(THEIR_SECRET.values(value=other))
        url = database.url.render_as_string(hide_password=False)
        server = Server(build_app(msgspec.structs.replace(settings, database_url=url), clock))
        yield Client(server, "", {})
        server.close()
        # The secrets of a database outlive the test.
        with database.writing() as db:
            db.execute(THEIR_SECRET.values(value=secret))

    def test_its_addresses_are_others(
        self, elsewhere: Client, v3: Client, image: dict[str, str]
    ) -> None:
        there = Client(elsewhere.server, "/v3.0", v3.credentials)

        [order] = there.get("/orders").data["content"]
        new = order["images"][0]["previewUrl"]

        assert new != image["previewUrl"]
        assert elsewhere.get(path_of(new)).body == PREVIEW
        assert_not_found(elsewhere.get(path_of(image["previewUrl"])))


def test_every_deployment_makes_a_long_secret_of_its_own(
    database: Database, blank_database_url: str
) -> None:
    other = Database(blank_database_url)
    schema.migrate(other)
    prepare_secrets(other, VAULT)

    found = set()
    for each in (database, other):
        with each.reading() as db:
            found.add(get_link_key(db, VAULT))
    other.close()

    assert len(found) == 2
    assert all(len(secret) >= 32 for secret in found)


def test_a_picture_is_not_compressed_once_more(browser: Client, image: dict[str, str]) -> None:
    headers = {"Accept-Encoding": "gzip"}

    answer = browser.request("GET", path_of(image["previewUrl"]), headers=headers)

    assert answer.body == PREVIEW
    assert "content-encoding" not in answer.headers


class TestLinksThatEnd:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        """A service whose links to proofs work for eight days."""
        given = {"PRINTWORKS_PUBLIC_URL": PUBLIC_URL, "PRINTWORKS_PROOF_LINKS_VALID_FOR": "8d"}
        return Settings.load(tmp_path, given)

    @pytest.mark.both_databases
    def test_one_works_for_its_time_and_is_gone_then(
        self, browser: Client, image: dict[str, str], clock: MovableClock
    ) -> None:
        path = path_of(image["previewUrl"])
        clock.advance(days=7)
        seen = browser.get(path)
        assert (seen.status, seen.body) == (200, PREVIEW)
        [left] = re.findall(r"private, max-age=(\d+), immutable", seen.headers["cache-control"])
        assert 0 < int(left) <= timedelta(days=1).total_seconds()

        clock.advance(days=1)
        gone = browser.get(path)

        assert gone.status == 410
        assert b"This link has expired." in gone.body

    def test_whoever_asks_again_gets_links_that_work(
        self, browser: Client, v3: Client, image: dict[str, str], clock: MovableClock
    ) -> None:
        order = v3.get("/orders").data["content"][0]["id"]
        before = v3.get(f"/orders/{order}")
        # For a while they stay the same, and so does the answer.
        same = v3.get(f"/orders/{order}", **{"If-None-Match": before.headers["etag"]})
        assert same.status == 304

        clock.advance(days=8)

        for client in (v3, replace(v3, prefix="/v2.6")):
            after = client.get(f"/orders/{order}", **{"If-None-Match": before.headers["etag"]})
            assert after.status == 200
        fresh = v3.get(f"/orders/{order}").data["images"][0]["previewUrl"]
        assert fresh != image["previewUrl"]
        assert browser.get(path_of(fresh)).status == 200

    def test_its_end_cannot_be_moved(self, browser: Client, image: dict[str, str]) -> None:
        path = path_of(image["previewUrl"])
        [end] = re.findall(r"/([0-9a-f]+)-", path)
        later = f"{int(end, 16) + 86400:x}"

        assert_not_found(browser.get(path.replace(f"/{end}-", f"/{later}-")))
        assert_not_found(browser.get(path.replace(f"/{end}-", "/")))

    def test_links_from_before_end_when_links_begin_to_end(
        self, browser: Client, v3: Client, database: Database, image: dict[str, str]
    ) -> None:
        with database.reading() as db:
            old, _ = Links(PUBLIC_URL, get_link_key(db, VAULT)).proofs(int(image["id"]))

        assert browser.get(path_of(old)).status == 410


def test_by_default_links_do_not_end(
    browser: Client, image: dict[str, str], clock: MovableClock
) -> None:
    clock.advance(days=3650)

    seen = browser.get(path_of(image["previewUrl"]))

    assert seen.status == 200
    assert seen.headers["cache-control"] == "private, max-age=31536000, immutable"
