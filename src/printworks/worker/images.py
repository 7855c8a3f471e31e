"""Fetching images, judging them, and drawing what is shown and what is printed."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import structlog

from printworks.actions.images import images as actions
from printworks.actions.images.pictures import (
    NOT_AS_EXPECTED,
    describe_picture,
    keep_original,
    keep_proofs,
    refuse_file,
    refuse_format,
    remember_picture,
    remove_files,
    remove_unless_kept,
)
from printworks.catalogue.products import Product
from printworks.conversion import reader_of
from printworks.files.errors import FileMissing
from printworks.imaging.manifest import Manifest, plan_print
from printworks.imaging.messages import Facts
from printworks.imaging.processor import Invalid
from printworks.net.client import Fetched
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import PermanentFailure, RetryLater
from printworks.rules.sizing import place
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.images.images import Image, find_image
from printworks.store.images.pictures import (
    Download,
    NewPicture,
    Picture,
    find_download,
    find_picture,
    get_picture,
    original_key,
    print_key,
    proof_keys,
    proxy_key,
    remember_download,
    use_picture,
)
from printworks.store.queue.jobs import Job
from printworks.worker.fetching import Deferred, Failure, fetch
from printworks.worker.loop import Context
from printworks.worker.tools import CANNOT_BE_PROCESSED, TROUBLE, Tools, infrastructure_errors

NOT_SOLD: Final = Failure(ImageStatus.INVALID, "The product is no longer in the catalogue.")
LOST: Final = Failure(ImageStatus.INVALID, "The picture was lost; create the order again.")


log = structlog.get_logger()


_read_facts: Final = reader_of(Facts)


class _Arrival(NamedTuple):
    """A file that came, or one that is known and has not changed."""

    fetched: Fetched
    picture: Picture | None


async def fetch_image(context: Context, job: Job) -> None:
    """Download an image, judge it and draw its proofs.

    Harmless twice: an image that has been judged or removed is left alone, and before that the
    same files are written again.
    """
    with infrastructure_errors():
        merchant, image = await context.in_thread(_find, context, job)
    if image is None:
        # An attempt that was cut short may have drawn them after the others were removed.
        with infrastructure_errors():
            await context.in_cpu_pool(_delete_proofs, context.outside, job.args["image"])
        return
    if image.status is not ImageStatus.NOT_YET_DOWNLOADED or image.url is None:
        return
    product = context.outside.catalogue.find_product(image.sku)
    if product is None:
        with infrastructure_errors():
            await context.in_thread(_refuse, context, job, merchant, image, NOT_SOLD)
        return
    with infrastructure_errors(), context.outside.folder() as folder:
        try:
            arrival = await _receive(context, job, merchant, image, folder / "original")
        except Deferred as error:
            await context.in_thread(_note_failure, context, merchant, image, str(error))
            raise
        if isinstance(arrival, Failure):
            await context.in_thread(_refuse, context, job, merchant, image, arrival)
            return
        judged = await context.in_cpu_pool(_judge, context.outside, image, product, arrival, folder)
        if isinstance(judged, Failure):
            await context.in_thread(_refuse, context, job, merchant, image, judged)
        elif not await context.in_thread(_settle, context, job, merchant, image, arrival, judged):
            raise RetryLater("The picture was forgotten just now.", wait=TROUBLE)


def _find(context: Context, job: Job) -> tuple[Merchant, Image | None]:
    if job.merchant_id is None:
        raise PermanentFailure("The job has no merchant.")
    with context.database.reading() as db:
        return get_merchant(db, job.merchant_id), find_image(db, job.args["image"])


def _delete_proofs(tools: Tools, image_id: int) -> None:
    for key in proof_keys(image_id):
        tools.files.delete(key)


async def _receive(
    context: Context, job: Job, merchant: Merchant, image: Image, into: Path
) -> _Arrival | Failure:
    url = image.url or ""
    known = await context.in_thread(_find_known, context, merchant, url)
    fetched = await fetch(context, job, url, into, headers=_ask_for_news(known))
    if isinstance(fetched, Failure):
        return fetched
    if fetched.status == 304 and known is not None:
        arrival = _Arrival(fetched, known.picture)
        md5 = known.picture.md5
    else:
        same = await context.in_thread(_find_same, context, fetched.sha256)
        arrival = _Arrival(fetched, same)
        md5 = fetched.md5
    if image.expected_md5 is not None and image.expected_md5 != md5:
        return Failure(ImageStatus.INVALID, NOT_AS_EXPECTED)
    return arrival


def _find_known(context: Context, merchant: Merchant, url: str) -> Download | None:
    with context.database.reading() as db:
        return find_download(db, merchant.id, url)


def _find_same(context: Context, sha256: str) -> Picture | None:
    with context.database.reading() as db:
        return find_picture(db, sha256)


def _ask_for_news(known: Download | None) -> Mapping[str, str]:
    """Ask for the file only if it has changed since it was last fetched for this merchant."""
    if known is None:
        return {}
    if known.etag:
        return {"If-None-Match": known.etag}
    return {"If-Modified-Since": known.last_modified} if known.last_modified else {}


def _judge(
    tools: Tools, image: Image, product: Product, arrival: _Arrival, folder: Path
) -> Picture | NewPicture | Failure:
    """Look at a file and draw its proofs; what was looked at before is only drawn again."""
    known = arrival.picture
    unwanted = _refuse_kind(image, arrival, folder)
    if unwanted is not None:
        return Failure(ImageStatus.INVALID, unwanted)
    if known is not None and known.refusal is not None:
        return known
    picture: Picture | NewPicture | Failure
    if known is None:
        picture = _prepare(tools, image, product, arrival.fetched, folder)
    elif known.proxy is None:
        picture = _prepare_again(tools, image, product, arrival.fetched, known, folder)
    else:
        _draw_proofs(tools, image, product, known, folder)
        picture = known
    if isinstance(picture, Failure) or picture.refusal is not None:
        return picture
    keep_proofs(tools.files, image.id, folder)
    return picture


def _refuse_kind(image: Image, arrival: _Arrival, folder: Path) -> str | None:
    """Say why this image may not be a file of that kind, if that is so."""
    if arrival.fetched.status == 200:
        return refuse_file(image.formats, folder / "original")
    facts = arrival.picture.facts if arrival.picture is not None else None
    return None if facts is None else refuse_format(image.formats, facts["format"])


def _draw_proofs(
    tools: Tools, image: Image, product: Product, picture: Picture, folder: Path
) -> None:
    facts = _read_facts(picture.facts)
    with tools.files.local(picture.proxy or "") as proxy:
        proofs = tools.insist(
            lambda: tools.processor.proof(
                proxy, facts.pixels, product.print_area, image.sizing, folder
            )
        )
    if isinstance(proofs, Invalid):
        # We drew the proxy ourselves, from a picture that was whole.
        raise PermanentFailure(f"No proof can be drawn from the proxy: {proofs.reason}")


def _prepare(
    tools: Tools, image: Image, product: Product, fetched: Fetched, folder: Path
) -> NewPicture | Failure:
    source = folder / "original"
    result = tools.insist(
        lambda: tools.processor.prepare(source, product.print_area, image.sizing, folder)
    )
    new = NewPicture(sha256=fetched.sha256, md5=fetched.md5, size=fetched.size)
    if isinstance(result, Invalid) and result.reason == CANNOT_BE_PROCESSED:
        # No verdict on the content, which may fare better another time, so none is remembered.
        return Failure(ImageStatus.INVALID, result.reason)
    if isinstance(result, Invalid):
        return msgspec.structs.replace(new, refusal=result.reason)
    key = original_key(new.sha256, image.id)
    return keep_original(tools.files, new, result.facts, source, key=key)


def _prepare_again(
    tools: Tools, image: Image, product: Product, fetched: Fetched, known: Picture, folder: Path
) -> Picture | Failure:
    """Draw the proofs of a picture that came before, and a proxy, since it may come again.

    Most pictures come once, so the first time has no proxy: it would be encoded for nobody.
    """
    with _original(tools, fetched, known, folder) as source:
        result = tools.insist(
            lambda: tools.processor.prepare(
                source, product.print_area, image.sizing, folder, with_proxy=True
            )
        )
    if isinstance(result, Invalid):
        return Failure(ImageStatus.INVALID, result.reason)
    if result.proxy is None:
        return known
    proxy = proxy_key(known.sha256, image.id)
    tools.files.put(proxy, result.proxy)
    return msgspec.structs.replace(known, proxy=proxy)


@contextmanager
def _original(tools: Tools, fetched: Fetched, known: Picture, folder: Path) -> Iterator[Path]:
    """Lend a picture that came before: the file that has just arrived, or else the one kept."""
    if fetched.status == 200:
        yield folder / "original"
        return
    with tools.files.local(known.original or "") as kept:
        yield kept


def _settle(
    context: Context,
    job: Job,
    merchant: Merchant,
    image: Image,
    arrival: _Arrival,
    judged: Picture | NewPicture,
) -> bool:
    """Remember the picture and what it makes of the image, in one transaction.

    Return False, and nothing is remembered, if the picture has been forgotten meanwhile.
    """
    now = context.clock()
    with context.database.writing() as db:
        if isinstance(judged, NewPicture):
            picture = remember_picture(db, judged, now=now)
        else:
            used = use_picture(db, judged, now=now)
            kept = None if used is None else used.proxy
            remove_unless_kept(db, _new_proxy(arrival, judged), kept=kept, now=now)
            if used is None:
                return False
            picture = used
        if arrival.fetched.status == 200 and (
            arrival.fetched.etag or arrival.fetched.last_modified
        ):
            remember_download(
                db,
                merchant.id,
                image.url or "",
                picture.id,
                etag=arrival.fetched.etag,
                last_modified=arrival.fetched.last_modified,
            )
        is_news = actions.judge_image(
            db,
            merchant,
            image,
            ImageStatus.INVALID if picture.refusal is not None else ImageStatus.OK,
            now=now + merchant.clock_offset,
            request_id=job.request_id,
            **describe_picture(picture),
        )
        if not is_news and find_image(db, image.id) is None:
            # It was removed while its proofs were drawn.
            remove_files(db, list(proof_keys(image.id)), now=now)
    return True


def _new_proxy(arrival: _Arrival, picture: Picture) -> str | None:
    """Return the proxy that this job has drawn, if it has."""
    known = arrival.picture
    return picture.proxy if known is not None and known.proxy is None else None


def _refuse(context: Context, job: Job, merchant: Merchant, image: Image, failure: Failure) -> None:
    with context.database.writing() as db:
        actions.judge_image(
            db,
            merchant,
            image,
            failure.status,
            now=context.clock() + merchant.clock_offset,
            request_id=job.request_id,
            error_message=failure.message,
        )


def _note_failure(context: Context, merchant: Merchant, image: Image, message: str) -> None:
    with context.database.writing() as db:
        now = context.clock() + merchant.clock_offset
        actions.note_download_failure(db, image, message, now=now)


async def render_image(context: Context, job: Job) -> None:
    """Draw the print file of an image.

    Harmless twice: the same picture and plan give the same bytes, under the same name.
    """
    with infrastructure_errors():
        merchant, image = await context.in_thread(_find, context, job)
        if image is None or image.status is not ImageStatus.OK or image.manifest is not None:
            return
        product = context.outside.catalogue.find_product(image.sku)
        if product is None:
            await context.in_thread(_refuse, context, job, merchant, image, NOT_SOLD)
            return
        picture = await context.in_thread(_get_picture, context, image)
        with context.outside.folder() as folder:
            rendered = await context.in_cpu_pool(
                _render, context.outside, image, product, picture, folder
            )
        if isinstance(rendered, Failure):
            await context.in_thread(_refuse, context, job, merchant, image, rendered)
        else:
            await context.in_thread(_keep_print, context, job, merchant, image, rendered)


def _get_picture(context: Context, image: Image) -> Picture:
    if image.picture_id is None:
        raise PermanentFailure("The original has been removed.")
    with context.database.reading() as db:
        return get_picture(db, image.picture_id)


def _render(
    tools: Tools, image: Image, product: Product, picture: Picture, folder: Path
) -> Manifest | Failure:
    facts = _read_facts(picture.facts)
    plan = plan_print(place(facts.pixels, product.print_area, image.sizing))
    try:
        with tools.files.local(picture.original or "") as source:
            rendered = tools.insist(lambda: tools.processor.render(source, plan, folder))
    except FileMissing:
        log.error("original is missing", file=picture.original, image=image.id)
        return LOST
    if isinstance(rendered, Invalid):
        # While it is drawn it is written, and the library does not tell one failure from another.
        if tools.is_cramped:
            raise RetryLater(f"No print file can be drawn: {rendered.reason}", wait=TROUBLE)
        return Failure(ImageStatus.INVALID, rendered.reason)
    tools.files.put(print_key(image.id), rendered.file)
    return rendered.manifest


def _keep_print(
    context: Context, job: Job, merchant: Merchant, image: Image, manifest: Manifest
) -> None:
    with context.database.writing() as db:
        actions.keep_print(
            db,
            merchant,
            image,
            msgspec.to_builtins(manifest),
            manifest.output_sha256,
            now=context.clock() + merchant.clock_offset,
            request_id=job.request_id,
        )
