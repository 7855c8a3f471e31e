"""Downloads and validates images, and renders their proofs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import structlog

from printworks.actions.images import images as actions
from printworks.actions.images.pictures import (
    CANNOT_BE_PROCESSED,
    NOT_AS_EXPECTED,
    count_picture,
    describe_picture,
    refuse_file,
    refuse_format,
    register_picture,
    remove_files,
    remove_unless_stored,
    store_original,
    store_proofs,
)
from printworks.actions.work import SystemWork
from printworks.catalogue.products import Product
from printworks.conversion import reader_of
from printworks.files.errors import FileMissing
from printworks.imaging.messages import Facts
from printworks.imaging.processor import Invalid, PreparedImage
from printworks.net.client import Fetched
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import RetryLater
from printworks.rules.orders import OrderStatus
from printworks.rules.sizing import Layout
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import Image, find_image
from printworks.store.images.pictures import (
    Download,
    NewPicture,
    Picture,
    delete_unused_pictures,
    drop_proxy,
    find_download,
    find_picture,
    original_key,
    proof_keys,
    proxy_key,
    remember_download,
    use_picture,
)
from printworks.store.orders.orders import get_order
from printworks.store.queue.jobs import Job
from printworks.worker.fetching import Deferred, Failure, NoRoom, check_room, fetch
from printworks.worker.loop import Context
from printworks.worker.originals import forget_original, open_original
from printworks.worker.resources import OUTAGE_WAIT, Resources, infrastructure_errors

NOT_SOLD: Final = Failure(ImageStatus.INVALID, "The product is no longer in the catalogue.")

log = structlog.get_logger()

_read_facts: Final = reader_of(Facts)


class ImageTask(NamedTuple):
    """A job, and the image that it is about."""

    context: Context
    job: Job
    merchant: Merchant
    image: Image


class _Rendering(NamedTuple):
    """What is needed to render an image, in a folder that holds its original."""

    resources: Resources
    image: Image
    product: Product
    folder: Path

    @property
    def original(self) -> Path:
        """The file that was downloaded."""
        return self.folder / "original"

    @property
    def layout(self) -> Layout:
        return Layout(self.product.print_area, self.image.sizing, self.image.position)

    def prepare(self, source: Path, *, with_proxy: bool = False) -> PreparedImage | Invalid:
        """Validate a picture and render its proofs."""
        prepare, layout = self.resources.processor.prepare, self.layout
        return self.resources.render(
            lambda: prepare(source, layout, self.folder, with_proxy=with_proxy)
        )


class _Arrival(NamedTuple):
    """A file that was downloaded, or one that is known and has not changed."""

    fetched: Fetched
    picture: Picture | None

    @property
    def is_new(self) -> bool:
        """Whether the file was downloaded."""
        return self.fetched.status == 200


async def fetch_image(context: Context, job: Job) -> None:
    """Download an image, validate it and render its proofs.

    Idempotent: an image that has been validated or removed, or whose order has been cancelled, is
    left alone, and before that the same files are written again.
    """
    with infrastructure_errors():
        task = await context.in_thread(_find_download_task, context, job)
        if task is None:
            # An interrupted attempt may have rendered proofs that nobody wants any more.
            await context.in_cpu_pool(_delete_proofs, context.resources, job.args["image"])
        elif task.image.status is ImageStatus.NOT_YET_DOWNLOADED and task.image.url is not None:
            await _fetch(task, task.image.url)


async def _fetch(task: ImageTask, url: str) -> None:
    context, image = task.context, task.image
    product = await context.in_thread(context.resources.find_product, image.sku)
    if product is None:
        await context.in_thread(record_failure, task, NOT_SOLD)
        return
    with context.resources.folder() as folder:
        rendering = _Rendering(context.resources, image, product, folder)
        try:
            check_room(context, task.merchant)
            arrival = await _download(task, url, rendering.original)
        except (Deferred, NoRoom) as error:
            await context.in_thread(_record_download_failure, task, str(error))
            raise
        if isinstance(arrival, Failure):
            await context.in_thread(record_failure, task, arrival)
            return
        try:
            picture = await context.in_cpu_pool(_validate, rendering, arrival)
        except FileMissing as missing:
            await context.in_thread(_forget_original, context, arrival)
            raise RetryLater("The original was lost.", wait=OUTAGE_WAIT) from missing
        if isinstance(picture, Failure):
            await context.in_thread(record_failure, task, picture)
        elif not await context.in_thread(_record_picture, task, arrival, picture):
            raise RetryLater("The picture has just been purged.", wait=OUTAGE_WAIT)


def find_task(context: Context, job: Job) -> ImageTask | None:
    """Return the image of a job; None if it has been removed."""
    with context.database.reading() as db:
        merchant = context.job_work(db, job).merchant
        image = find_image(db, job.args["image"])
    return None if image is None else ImageTask(context, job, merchant, image)


def _find_download_task(context: Context, job: Job) -> ImageTask | None:
    """Return the same, or None if the order was cancelled before the image arrived."""
    task = find_task(context, job)
    if task is None or task.image.status is not ImageStatus.NOT_YET_DOWNLOADED:
        return task
    with context.database.reading() as db:
        order = get_order(db, task.merchant.id, task.image.order_id)
    return None if order.status is OrderStatus.CANCELLED else task


def _delete_proofs(resources: Resources, image_id: int) -> None:
    for key in proof_keys(image_id):
        resources.files.delete(key)


async def _download(task: ImageTask, url: str, into: Path) -> _Arrival | Failure:
    context, expected = task.context, task.image.expected_md5
    known = await context.in_thread(_find_download, context, task.merchant, url)
    fetched = await fetch(context, task.job, url, into, headers=_conditional_headers(known))
    if isinstance(fetched, Failure):
        return fetched
    if fetched.status == 304 and known is not None:
        arrival, md5 = _Arrival(fetched, known.picture), known.picture.md5
    else:
        same = await context.in_thread(_find_same, context, fetched.sha256)
        arrival, md5 = _Arrival(fetched, same), fetched.md5
    if expected is not None and expected != md5:
        return Failure(ImageStatus.INVALID, NOT_AS_EXPECTED, md5)
    return arrival


def _find_download(context: Context, merchant: Merchant, url: str) -> Download | None:
    with context.database.reading() as db:
        return find_download(db, merchant.id, url)


def _find_same(context: Context, sha256: str) -> Picture | None:
    """Return the picture with this content, unless its file was lost and has come again now."""
    with context.database.reading() as db:
        found = find_picture(db, sha256)
    return None if found is None or found.is_lost else found


def _forget_original(context: Context, arrival: _Arrival) -> None:
    """Let the file be requested again, whether or not it has changed."""
    if arrival.picture is not None:
        forget_original(context, arrival.picture)


def _conditional_headers(known: Download | None) -> Mapping[str, str]:
    """Request the file only if it has changed since its last download for this merchant."""
    if known is None:
        return {}
    if known.etag:
        return {"If-None-Match": known.etag}
    return {"If-Modified-Since": known.last_modified} if known.last_modified else {}


def _validate(rendering: _Rendering, arrival: _Arrival) -> Picture | NewPicture | Failure:
    """Validate a file and render its proofs; a known picture is only rendered."""
    known = arrival.picture
    refusal = _refuse_format(rendering, arrival)
    if refusal is not None:
        return Failure(ImageStatus.INVALID, refusal)
    if known is not None and known.refusal is not None:
        return known
    picture: Picture | NewPicture | Failure
    if known is None:
        picture = _prepare(rendering, arrival.fetched)
    elif known.proxy is None or rendering.image.is_enlarged:
        picture = _prepare_again(rendering, arrival, known)
    elif _render_proofs(rendering, known):
        picture = known
    else:
        without_proxy = msgspec.structs.replace(known, proxy=None)
        picture = _prepare_again(rendering, arrival, without_proxy)
    if not isinstance(picture, Failure) and picture.refusal is None:
        store_proofs(rendering.resources.files, rendering.image.id, rendering.folder)
    return picture


def _refuse_format(rendering: _Rendering, arrival: _Arrival) -> str | None:
    """Return why the image does not accept the format of a file; None if it does."""
    accepted = rendering.image.formats
    if arrival.is_new:
        return refuse_file(accepted, rendering.original)
    facts = arrival.picture.facts if arrival.picture is not None else None
    return None if facts is None else refuse_format(accepted, facts["format"])


def _render_proofs(rendering: _Rendering, picture: Picture) -> bool:
    """Render proofs from the proxy; return False if it is lost or damaged."""
    resources, image, _, folder = rendering
    pixels, proof = _read_facts(picture.facts).pixels, resources.processor.proof
    try:
        with resources.files.local(picture.proxy or "") as proxy:
            proofs = resources.render(lambda: proof(proxy, pixels, rendering.layout, folder))
    except FileMissing:
        log.error("proxy is missing", file=picture.proxy, image=image.id)
        return False
    if isinstance(proofs, Invalid):
        log.error("proxy is damaged", file=picture.proxy, image=image.id, reason=proofs.reason)
        return False
    return True


def _prepare(rendering: _Rendering, fetched: Fetched) -> NewPicture | Failure:
    source = rendering.original
    result = rendering.prepare(source)
    new = NewPicture(sha256=fetched.sha256, md5=fetched.md5, size=fetched.size)
    if isinstance(result, Invalid) and result.reason == CANNOT_BE_PROCESSED:
        # Not stored with the picture: the same content may be rendered another time.
        return Failure(ImageStatus.INVALID, result.reason)
    if isinstance(result, Invalid):
        return msgspec.structs.replace(new, refusal=result.reason)
    key = original_key(new.sha256, rendering.image.id)
    return store_original(rendering.resources.files, new, result.facts, source, key=key)


def _prepare_again(rendering: _Rendering, arrival: _Arrival, known: Picture) -> Picture | Failure:
    """Render the proofs of a known picture, and a proxy if it has none: it may come again.

    Most pictures come once, so the first time no proxy is rendered.
    """
    with _open_original(rendering, arrival, known) as source:
        result = rendering.prepare(source, with_proxy=known.proxy is None)
    if isinstance(result, Invalid):
        return Failure(ImageStatus.INVALID, result.reason)
    if result.proxy is None:
        return known
    proxy = proxy_key(known.sha256, rendering.image.id)
    rendering.resources.files.put(proxy, result.proxy)
    return msgspec.structs.replace(known, proxy=proxy)


@contextmanager
def _open_original(rendering: _Rendering, arrival: _Arrival, known: Picture) -> Iterator[Path]:
    """Open a known picture: the file that was downloaded, or else the stored one."""
    if arrival.is_new:
        yield rendering.original
        return
    with open_original(rendering.resources, known) as stored:
        yield stored


def _record_picture(task: ImageTask, arrival: _Arrival, validated: Picture | NewPicture) -> bool:
    """Record a picture and the status of its image, in one transaction.

    Return False, and change nothing, if the picture has been purged in the meantime.
    """
    context, job, merchant, image = task
    with context.database.writing() as db:
        system = context.system_work(db, job)
        if isinstance(validated, NewPicture):
            picture = register_picture(system, validated)
        else:
            used = _use_picture(system, arrival, validated)
            if used is None:
                return False
            picture = used
        fetched = arrival.fetched
        if arrival.is_new and (fetched.etag or fetched.last_modified):
            download = Download(fetched.etag, fetched.last_modified, picture)
            remember_download(db, merchant.id, image.url or "", download)
        status = ImageStatus.INVALID if picture.refusal is not None else ImageStatus.OK
        work = system.for_merchant(merchant)
        is_news = actions.record_image_status(work, image, status, **describe_picture(picture))
        count_picture(work, picture)
        if not is_news and _is_unwanted(find_image(db, image.id)):
            unused = delete_unused_pictures(db, [picture.id])
            remove_files(system, [*proof_keys(image.id), *unused])
    return True


def _is_unwanted(image: Image | None) -> bool:
    """Whether an image was removed or erased, or its order cancelled, while its file came."""
    if image is None or image.status is ImageStatus.NOT_YET_DOWNLOADED:
        return True
    return image.status is ImageStatus.OK and image.picture_id is None and image.width is None


def _use_picture(system: SystemWork, arrival: _Arrival, validated: Picture) -> Picture | None:
    """Mark a known picture as used, and store the proxy that was rendered; None if it is gone."""
    known = arrival.picture
    if known is None or known.proxy == validated.proxy:
        return use_picture(system.db, validated, now=system.real_now)
    if known.proxy is not None and drop_proxy(system.db, known):
        remove_files(system, [known.proxy])
    used = use_picture(system.db, validated, now=system.real_now)
    stored = None if used is None else used.proxy
    remove_unless_stored(system, validated.proxy, stored=stored)
    return used


def record_failure(task: ImageTask, failure: Failure) -> None:
    """Record why an image cannot be printed."""
    context, job, merchant, image = task
    facts = {"error_message": failure.message} | ({"md5": failure.md5} if failure.md5 else {})
    with context.database.writing() as db:
        work = context.work(db, merchant, job)
        actions.record_image_status(work, image, failure.status, **facts)


def _record_download_failure(task: ImageTask, message: str) -> None:
    context, job, merchant, image = task
    with context.database.writing() as db:
        actions.record_download_failure(context.work(db, merchant, job), image, message)
