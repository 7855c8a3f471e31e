"""Images are fetched from where merchants say, judged, and shown: as often as promised, no more."""

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import pyvips
from sqlalchemy import update

from printworks.actions.accounts.clock import advance_clock
from printworks.actions.images.pictures import NOT_AS_EXPECTED
from printworks.net.client import FetchLimits
from printworks.net.errors import Unreachable
from printworks.rules.events import ImageJudged
from printworks.rules.hosts import BUSY_WAIT, DOWNLOADS
from printworks.rules.images import DOWNLOAD_WAITS, ImageStatus
from printworks.rules.jobs import POLICIES, JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.sizing import Pixels
from printworks.store.catalogue.watch import CatalogueWatch
from printworks.store.images.images import Image
from printworks.store.images.pictures import Picture, proof_key, purge_pictures
from printworks.store.orders.orders import Order
from printworks.store.tables import images
from printworks.store.views.console.jobs import JobRow
from tests.factories import a_work
from tests.imaging.pictures import CORNERS, a_picture, are_alike, as_jpeg, corners
from tests.worker.conftest import OpenShop
from tests.worker.hosts import (
    answers,
    breaks_off,
    drips,
    holds,
    lies,
    never_ends,
    redirects,
    says_nothing,
    wait_until,
)
from tests.worker.queues import add_merchant
from tests.worker.shops import (
    A_PICTURE,
    ANOTHER_PICTURE,
    MAGNET,
    NOT_A_PICTURE,
    Shop,
)

_S = ImageStatus
NOT_FOUND = answers("404 Not Found")
SECOND = timedelta(seconds=1)


def fetch(shop: Shop, *urls: str, **values: Any) -> list[Image]:
    """Add images to a new order, let the worker do what is due, and see what became of them."""
    ids = shop.add_images(shop.add_order(), *urls, **values)
    shop.drain()
    return [shop.image(image_id) for image_id in ids]


def fetch_stored(shop: Shop, url: str) -> Image:
    """Fetch from an address that was taken when the rules were others."""
    [image_id] = shop.add_images(shop.add_order(), "https://shop.example/cat.jpg")
    with shop.database.writing() as db:
        db.execute(update(images).where(images.c.id == image_id).values(url=url))
    shop.drain()
    return shop.image(image_id)


def fetch_one(shop: Shop, url: str, **values: Any) -> Image:
    """Do the same with one image."""
    [image] = fetch(shop, url, **values)
    return image


def list_waiting(shop: Shop) -> list[JobRow]:
    """Return the downloads that are put off."""
    return [job for job in shop.jobs(JobKind.FETCH_IMAGE) if job.state == "scheduled"]


def statuses(images: list[Image]) -> list[ImageStatus]:
    """Return how far each has come."""
    return [image.status for image in images]


class TestVerdicts:
    def test_a_picture_becomes_ok_with_its_hash_its_size_and_its_proofs(self, shop: Shop) -> None:
        url = shop.host.at("/cat.jpg", holds(A_PICTURE))

        image = fetch_one(shop, url)

        assert (image.status, image.error_message) == (_S.OK, None)
        assert image.md5 == hashlib.md5(A_PICTURE).hexdigest()
        assert image.pixels == Pixels(600, 900)
        assert shop.list_files("proofs") == [
            f"proofs/{image.id}/preview.jpg",
            f"proofs/{image.id}/thumbnail.jpg",
        ]

    def test_the_original_is_kept_byte_by_byte(self, shop: Shop) -> None:
        fetch_one(shop, shop.host.at("/cat.jpg", holds(A_PICTURE)))

        [original] = shop.list_files("originals")
        assert shop.resources.files.read(original) == A_PICTURE

    def test_the_bench_is_tidy_afterwards(self, shop: Shop) -> None:
        fetch(
            shop,
            shop.host.at("/cat.jpg", holds(A_PICTURE)),
            shop.host.at("/page.html", holds(NOT_A_PICTURE)),
            shop.host.at("/gone.jpg", NOT_FOUND),
        )

        assert list(shop.resources.scratch.iterdir()) == []

    def test_what_is_no_picture_is_invalid_and_a_sentence_says_why(self, shop: Shop) -> None:
        image = fetch_one(shop, shop.host.at("/cat.jpg", holds(NOT_A_PICTURE)))

        assert image.status is _S.INVALID
        assert image.error_message is not None
        assert image.error_message.endswith(".")
        assert shop.list_files() == []

    def test_an_empty_file_is_invalid(self, shop: Shop) -> None:
        image = fetch_one(shop, shop.host.at("/cat.jpg", holds(b"")))

        assert (image.status, image.error_message) == (_S.INVALID, "The file is empty.")

    def test_another_file_than_the_hash_names_is_invalid(self, shop: Shop) -> None:
        expected = hashlib.md5(ANOTHER_PICTURE).hexdigest()

        image = fetch_one(shop, shop.host.at("/cat.jpg", holds(A_PICTURE)), expected_md5=expected)

        assert (image.status, image.error_message) == (_S.INVALID, NOT_AS_EXPECTED)
        # That of the file, so that the merchant can see which one is there.
        assert image.md5 == hashlib.md5(A_PICTURE).hexdigest()

    def test_the_file_that_the_hash_names_is_ok(self, shop: Shop) -> None:
        expected = hashlib.md5(A_PICTURE).hexdigest()

        image = fetch_one(shop, shop.host.at("/cat.jpg", holds(A_PICTURE)), expected_md5=expected)

        assert image.status is _S.OK

    def test_a_file_that_was_sent_packed_is_judged_unpacked(self, shop: Shop) -> None:
        image = fetch_one(shop, shop.host.at("/cat.jpg", holds(A_PICTURE, packed=True)))

        assert image.md5 == hashlib.md5(A_PICTURE).hexdigest()
        assert image.status is _S.OK

    def test_a_redirect_is_followed(self, shop: Shop) -> None:
        cat = shop.host.at("/cat.jpg", holds(A_PICTURE))

        image = fetch_one(shop, shop.host.at("/old.jpg", redirects(cat)))

        assert image.status is _S.OK

    @pytest.mark.parametrize("behaviour", [holds(A_PICTURE), never_ends(A_PICTURE)])
    def test_a_file_that_is_too_large_is_invalid_at_once(
        self, a_shop: OpenShop, behaviour: Any
    ) -> None:
        shop = a_shop(image_limit=str(len(A_PICTURE) - 1))

        image = fetch_one(shop, shop.host.at("/cat.jpg", behaviour))

        assert image.status is _S.INVALID
        assert image.error_message == "The file at the address is too large."
        assert shop.host.count("/cat.jpg") == 1
        assert shop.list_files() == []

    def test_every_verdict_is_recorded_once(self, shop: Shop) -> None:
        order = shop.add_order()
        fine, wrong = shop.add_images(
            order,
            shop.host.at("/cat.jpg", holds(A_PICTURE)),
            shop.host.at("/page.html", holds(NOT_A_PICTURE)),
        )

        shop.drain()

        judged = [event for event in shop.events(order) if isinstance(event, ImageJudged)]
        assert sorted(judged, key=lambda event: event.image) == [
            ImageJudged(fine, _S.OK),
            ImageJudged(wrong, _S.INVALID),
        ]


class TestAttempts:
    def test_after_the_first_attempt_there_is_hope_and_a_reason(self, shop: Shop) -> None:
        image = fetch_one(shop, shop.host.at("/cat.jpg", NOT_FOUND))

        assert image.status is _S.NOT_YET_DOWNLOADED
        assert image.error_message == "There is nothing at the address."

    def test_seven_attempts_over_twenty_minutes_and_never_an_eighth(self, shop: Shop) -> None:
        image = fetch_one(shop, shop.host.at("/cat.jpg", NOT_FOUND))

        for attempts, wait in enumerate(DOWNLOAD_WAITS, start=1):
            assert shop.image(image.id).status is _S.NOT_YET_DOWNLOADED
            shop.pass_time(seconds=(wait - SECOND).total_seconds())
            assert shop.host.count("/cat.jpg") == attempts
            shop.pass_time(seconds=1)
            assert shop.host.count("/cat.jpg") == attempts + 1
        shop.pass_time(days=1)

        given_up = shop.image(image.id)
        assert shop.host.count("/cat.jpg") == 7
        assert timedelta(minutes=19) < sum(DOWNLOAD_WAITS, timedelta(0)) < timedelta(minutes=21)
        assert given_up.status is _S.FILE_NOT_FOUND_AT_URL
        assert given_up.error_message == "There is nothing at the address."
        assert shop.job(JobKind.FETCH_IMAGE).state == "done"

    @pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "403 Forbidden"])
    def test_a_picture_that_comes_late_is_ok_and_the_old_reason_is_gone(
        self, shop: Shop, status: str
    ) -> None:
        image = fetch_one(shop, shop.host.at("/cat.jpg", answers(status), holds(A_PICTURE)))

        shop.pass_time(seconds=10)

        late = shop.image(image.id)
        assert (late.status, late.error_message) == (_S.OK, None)

    def test_an_address_that_nobody_could_ask_is_given_up_at_once(self, shop: Shop) -> None:
        image = fetch_stored(shop, "http://user:secret@127.0.0.1/cat.jpg")

        assert image.status is _S.FILE_NOT_FOUND_AT_URL
        assert image.error_message

    @pytest.mark.parametrize("where", ["169.254.169.254", "127.0.0.1:{port}", "[::1]:{port}"])
    def test_a_forbidden_address_says_the_same_as_one_where_nobody_is(
        self, a_shop: OpenShop, where: str
    ) -> None:
        shop = a_shop(environment="live", public_url="https://print.example", payments="account")
        shop.host.at("/cat.jpg", holds(A_PICTURE))
        image = fetch_stored(shop, f"http://{where.format(port=shop.host.port)}/cat.jpg")

        for wait in DOWNLOAD_WAITS:
            shop.pass_time(seconds=wait.total_seconds())

        given_up = shop.image(image.id)
        assert given_up.status is _S.FILE_NOT_FOUND_AT_URL
        assert given_up.error_message == Unreachable.sentence
        assert shop.host.asked == []

    def test_the_sandbox_clock_shortens_the_wait(self, shop: Shop) -> None:
        image = fetch_one(shop, shop.host.at("/cat.jpg", NOT_FOUND, holds(A_PICTURE)))

        with shop.database.writing() as db:
            advance_clock(a_work(db, shop.merchant, now=shop.clock()), timedelta(seconds=10))
        shop.drain()

        assert shop.image(image.id).status is _S.OK


class TestServersThatMisbehave:
    def test_each_is_tried_again_and_holds_up_nobody_else(self, a_shop: OpenShop) -> None:
        shop = a_shop(fetch_limits=FetchLimits(total=2 * SECOND, stall=1 * SECOND))
        host = shop.host
        wicked = {
            "/drips.jpg": drips(A_PICTURE),
            "/says-nothing.jpg": says_nothing,
            "/breaks-off.jpg": breaks_off(A_PICTURE),
            "/too-short.jpg": lies(A_PICTURE, by=+1),
            "/too-long.jpg": lies(A_PICTURE, by=-1),
        }
        order = shop.add_order()
        bad = [host.at(path, behave, holds(A_PICTURE)) for path, behave in wicked.items()]
        good = [host.at(f"/{name}.jpg", holds(A_PICTURE), name="localhost") for name in "abc"]
        ids = shop.add_images(order, *bad, *good)

        shop.drain()

        images = [shop.image(image_id) for image_id in ids]
        assert statuses(images) == [_S.NOT_YET_DOWNLOADED] * 5 + [_S.OK] * 3
        assert [image.error_message for image in images] == [
            *["The address took too long to answer."] * 2,
            *["The answer of the address broke off or cannot be read."] * 3,
            *[None] * 3,
        ]
        shop.pass_time(seconds=10)
        assert {shop.image(image_id).status for image_id in ids} == {_S.OK}
        assert all(host.count(path) == 2 for path in wicked)

    def test_a_host_gets_six_requests_at_once_and_the_others_wait_for_free(
        self, shop: Shop
    ) -> None:
        gate = shop.host.gate()
        behaviour = gate.before(holds(A_PICTURE))
        urls = [shop.host.at(f"/{number}.jpg", behaviour) for number in range(8)]
        ids = shop.add_images(shop.add_order(), *urls)

        with shop.draining():
            wait_until(lambda: len(list_waiting(shop)) == 2 and len(shop.host.asked) >= 6)
            gate.open()

        assert shop.host.most_at_once == len(shop.host.asked) == DOWNLOADS.most_for_merchant
        assert [(job.attempts, job.due_at) for job in list_waiting(shop)] == [
            (0, shop.clock() + BUSY_WAIT),
            (0, shop.clock() + BUSY_WAIT),
        ]
        shop.pass_time(seconds=BUSY_WAIT.total_seconds())
        assert {shop.image(image_id).status for image_id in ids} == {_S.OK}
        assert len(shop.host.asked) == len(urls)

    def test_a_merchant_has_eight_downloads_at_once_and_another_is_not_held_up(
        self, shop: Shop
    ) -> None:
        bob = add_merchant(shop.database, "Bob")
        gate = shop.host.gate(waits_for=9)
        behaviour = gate.before(holds(A_PICTURE))
        for number in range(10):
            name = "localhost" if number % 2 else "127.0.0.1"
            url = shop.host.at(f"/alice-{number}.jpg", behaviour, name=name)
            shop.add_images(shop.add_order(), url)
        shop.add_images(shop.add_order(bob), shop.host.at("/bob.jpg", behaviour))

        shop.drain()

        assert POLICIES[JobKind.FETCH_IMAGE].in_flight == 8
        assert shop.host.most_at_once == 9
        assert {job.state for job in shop.jobs(JobKind.FETCH_IMAGE)} == {"done"}


def test_a_product_of_a_catalogue_that_was_published_just_now_is_not_rejected(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    [image] = shop.add_images(shop.add_order(), shop.host.at("/cat.jpg", holds(A_PICTURE)))
    # What a worker knows until it looks again.
    older = msgspec.structs.replace(shop.resources.catalogue, products=(), _by_sku={})
    monkeypatch.setattr(CatalogueWatch, "current", older)

    shop.drain()

    assert shop.image(image).status is _S.OK


def spoil_proxy(shop: Shop, how: str, folder: Path) -> Picture:
    """Lose the proxy of the picture, or damage it."""
    picture = shop.picture(A_PICTURE)
    assert picture is not None
    assert picture.proxy is not None
    if how == "lost":
        shop.resources.files.delete(picture.proxy)
    else:
        damaged = folder / "damaged"
        damaged.write_bytes(NOT_A_PICTURE)
        shop.resources.files.put(picture.proxy, damaged)
    return picture


class TestTheSameContent:
    def test_is_stored_once_and_has_a_proxy_from_the_second_time_on(self, shop: Shop) -> None:
        first = fetch_one(shop, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        originals = shop.list_files("originals")
        assert shop.list_files("proxies") == []

        second = fetch_one(shop, shop.host.at("/copy.jpg", holds(A_PICTURE)), sku=MAGNET)

        assert (second.status, second.md5, second.pixels) == (_S.OK, first.md5, first.pixels)
        assert second.picture_id == first.picture_id
        picture = shop.picture(A_PICTURE)
        assert picture is not None
        assert shop.list_files("originals") == originals == [picture.original]
        assert shop.list_files("proxies") == [picture.proxy]
        assert shop.jobs(JobKind.REMOVE_FILES) == []
        preview = open_proof(shop, second, "preview")
        # The magnet is wide, and turned for a picture that stands upright.
        assert preview.width / preview.height == pytest.approx(5 / 7, rel=0.01)

    def test_is_drawn_from_the_proxy_alone_from_the_third_time_on(self, shop: Shop) -> None:
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"one"'))
        fetch_one(shop, url)
        fetch_one(shop, url)
        picture = shop.picture(A_PICTURE)
        assert picture is not None
        shop.resources.files.delete(str(picture.original))

        third = fetch_one(shop, url, sku=MAGNET)

        assert third.status is _S.OK
        assert shop.picture(A_PICTURE) == picture
        preview = open_proof(shop, third, "preview")
        assert preview.width / preview.height == pytest.approx(5 / 7, rel=0.01)

    @pytest.mark.parametrize("how", ["lost", "damaged"])
    def test_is_drawn_from_the_original_if_its_proxy_is_of_no_use(
        self, shop: Shop, how: str, tmp_path: Path
    ) -> None:
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"one"'))
        fetch_one(shop, url)
        fetch_one(shop, url)
        spoil_proxy(shop, how, tmp_path)

        third = fetch_one(shop, url, sku=MAGNET)

        assert third.status is _S.OK
        picture = shop.picture(A_PICTURE)
        assert picture is not None
        assert shop.list_files("proxies") == [picture.proxy]
        preview = open_proof(shop, third, "preview")
        assert preview.width / preview.height == pytest.approx(5 / 7, rel=0.01)

    def test_says_so_if_neither_its_proxy_nor_its_original_can_be_read(
        self, shop: Shop, tmp_path: Path
    ) -> None:
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"one"'))
        fetch_one(shop, url)
        fetch_one(shop, url)
        original = spoil_proxy(shop, "damaged", tmp_path).original
        shop.resources.files.put(str(original), tmp_path / "damaged")

        third = fetch_one(shop, url)

        assert third.status is _S.INVALID
        assert "not a picture of a format" in (third.error_message or "")

    def test_that_comes_again_twice_at_the_same_moment_has_one_proxy(self, shop: Shop) -> None:
        fetch_one(shop, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        gate = shop.host.gate(waits_for=2)
        behaviour = gate.before(holds(A_PICTURE))

        images = fetch(
            shop, shop.host.at("/copy.jpg", behaviour), shop.host.at("/other.jpg", behaviour)
        )

        picture = shop.picture(A_PICTURE)
        assert picture is not None
        assert statuses(images) == [_S.OK, _S.OK]
        assert shop.list_files("proxies") == [picture.proxy]

    def test_that_is_forgotten_while_it_is_drawn_again_leaves_no_proxy(self, shop: Shop) -> None:
        order = shop.add_order()
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"one"')))
        shop.drain()
        shop.move(order, OrderStatus.CANCELLED)
        gate = shop.host.gate()
        same = holds(A_PICTURE, etag='"one"')
        url = shop.host.at("/cat.jpg", gate.before(same), same)
        [image] = shop.add_images(shop.add_order(), url)

        with shop.draining():
            gate.wait()
            with shop.database.writing() as db:
                purge_pictures(db, before=shop.clock() + SECOND, limit=10)
            gate.open()
        shop.pass_time(minutes=1)

        assert shop.image(image).status is _S.OK
        assert shop.list_files("proxies") == []

    def test_that_arrives_twice_at_the_same_moment_is_stored_once(self, shop: Shop) -> None:
        gate = shop.host.gate(waits_for=2)
        behaviour = gate.before(holds(A_PICTURE))

        images = fetch(
            shop, shop.host.at("/cat.jpg", behaviour), shop.host.at("/copy.jpg", behaviour)
        )

        picture = shop.picture(A_PICTURE)
        assert picture is not None
        assert statuses(images) == [_S.OK, _S.OK]
        assert {image.picture_id for image in images} == {picture.id}
        assert shop.list_files("originals") == [picture.original]
        assert len(shop.list_files("proofs")) == 4

    def test_of_another_merchant_is_stored_once_too(self, shop: Shop) -> None:
        bob = add_merchant(shop.database, "Bob")
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"1"'))
        fetch_one(shop, url)

        [image] = shop.add_images(shop.add_order(bob), url)
        shop.drain()

        assert shop.image(image).status is _S.OK
        assert len(shop.list_files("originals")) == 1

    def test_is_refused_for_the_same_reason(self, shop: Shop) -> None:
        first = fetch_one(shop, shop.host.at("/page.html", holds(NOT_A_PICTURE)))

        second = fetch_one(shop, shop.host.at("/copy.html", holds(NOT_A_PICTURE)))

        assert second.status is _S.INVALID
        assert second.error_message == first.error_message
        assert shop.count_pictures() == 1

    def test_is_stored_again_once_its_file_is_found_to_be_lost(self, shop: Shop) -> None:
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"one"'))
        first = fetch_one(shop, url)
        lost = shop.picture(A_PICTURE)
        assert lost is not None
        shop.resources.files.delete(str(lost.original))

        [second] = shop.add_images(shop.add_order(), url)
        shop.drain()
        shop.pass_time(minutes=1)

        assert shop.image(second).status is _S.OK
        assert shop.image(second).picture_id == first.picture_id
        found = shop.picture(A_PICTURE)
        assert found is not None
        assert shop.list_files("originals") == [found.original] != [lost.original]
        assert [asked.headers.get("if-none-match") for asked in shop.host.asked] == [
            *(None, '"one"'),
            None,
        ]


class TestTheSameAddress:
    def test_is_asked_for_news_by_etag_and_a_304_is_enough(self, shop: Shop) -> None:
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"one"', last_modified="x"))
        first = fetch_one(shop, url)

        second = fetch_one(shop, url)

        assert [asked.headers.get("if-none-match") for asked in shop.host.asked] == [None, '"one"']
        assert (second.status, second.md5, second.pixels) == (_S.OK, first.md5, first.pixels)
        assert len(shop.list_files("proofs")) == 4

    def test_is_asked_for_news_by_date_if_it_has_no_etag(self, shop: Shop) -> None:
        date = "Sun, 15 Nov 2026 12:00:00 GMT"
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, last_modified=date))
        fetch_one(shop, url)

        second = fetch_one(shop, url)

        asked = [asked.headers.get("if-modified-since") for asked in shop.host.asked]
        assert asked == [None, date]
        assert second.status is _S.OK

    def test_still_has_to_hold_what_the_hash_names(self, shop: Shop) -> None:
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"one"'))
        fetch_one(shop, url)

        second = fetch_one(shop, url, expected_md5=hashlib.md5(ANOTHER_PICTURE).hexdigest())

        assert (second.status, second.error_message) == (_S.INVALID, NOT_AS_EXPECTED)

    def test_of_another_merchant_is_asked_as_if_for_the_first_time(self, shop: Shop) -> None:
        bob = add_merchant(shop.database, "Bob")
        url = shop.host.at("/cat.jpg", holds(A_PICTURE, etag='"one"'))
        fetch_one(shop, url)

        shop.add_images(shop.add_order(bob), url)
        shop.drain()

        assert [asked.headers.get("if-none-match") for asked in shop.host.asked] == [None, None]

    @pytest.mark.parametrize("etags", [("", ""), ('"one"', '"two"')])
    def test_may_hold_something_else_the_next_time(
        self, shop: Shop, etags: tuple[str, str]
    ) -> None:
        url = shop.host.at(
            "/cat.jpg",
            holds(A_PICTURE, etag=etags[0]),
            holds(ANOTHER_PICTURE, etag=etags[1]),
        )

        first, second = fetch_one(shop, url), fetch_one(shop, url)

        assert first.md5 == hashlib.md5(A_PICTURE).hexdigest()
        assert second.md5 == hashlib.md5(ANOTHER_PICTURE).hexdigest()
        assert len(shop.list_files("originals")) == 2


class TestTwice:
    def test_a_job_that_runs_again_changes_nothing(self, shop: Shop) -> None:
        order = shop.add_order()
        ids = shop.add_images(
            order,
            shop.host.at("/cat.jpg", holds(A_PICTURE)),
            shop.host.at("/page.html", holds(NOT_A_PICTURE)),
        )
        shop.drain()
        before = remember(shop, order, ids)

        for image_id in ids:
            shop.enqueue_again(JobKind.FETCH_IMAGE, {"image": image_id})
        shop.pass_time(minutes=1)

        assert remember(shop, order, ids) == before
        assert len(shop.host.asked) == 2

    def test_a_job_that_runs_twice_at_the_same_moment_counts_once(self, shop: Shop) -> None:
        order = shop.add_order()
        gate = shop.host.gate(waits_for=2)
        ids = shop.add_images(order, shop.host.at("/cat.jpg", gate.before(holds(A_PICTURE))))
        shop.enqueue_again(JobKind.FETCH_IMAGE, {"image": ids[0]})

        shop.drain()

        judged = [event for event in shop.events(order) if isinstance(event, ImageJudged)]
        picture = shop.picture(A_PICTURE)
        assert picture is not None
        assert judged == [ImageJudged(ids[0], _S.OK)]
        assert shop.list_files("originals") == [picture.original]


def test_the_proofs_show_the_picture_as_it_will_be_printed(shop: Shop) -> None:
    lying = as_jpeg(a_picture(900, 600))

    image = fetch_one(shop, shop.host.at("/cat.jpg", holds(lying)))

    for name in ("preview", "thumbnail"):
        proof = open_proof(shop, image, name)
        # Upright, although the print file is turned.
        assert proof.width * 2 == proof.height * 3
        assert are_alike(corners(proof), CORNERS)


def open_proof(shop: Shop, image: Image, name: str) -> Any:
    """Open a proof that is kept."""
    return pyvips.Image.new_from_buffer(shop.resources.files.read(proof_key(image.id, name)), "")


def remember(shop: Shop, order: Order, ids: list[int]) -> Any:
    """Return all that could have changed."""
    images = [shop.image(image_id) for image_id in ids]
    files = {key: shop.resources.files.read(key) for key in shop.list_files()}
    return images, shop.events(order), shop.order(order), files
