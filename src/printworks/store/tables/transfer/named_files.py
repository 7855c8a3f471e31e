"""The files that rows name: whatever else a store has, nothing refers to."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from printworks.rules.images import ImageStatus
from printworks.store.images.pictures import mockup_key, print_key, proof_keys
from printworks.store.tables import (
    brand,
    images,
    issue_photos,
    packing_slips,
    pictures,
    product_pictures,
    shops,
)

_PAGE: Final = 1000


class NamedFile(NamedTuple):
    """A file that a row names, with what the row knows of it."""

    # Which kind of row, its number, and which of its files: in this order they are listed.
    place: tuple[int, int, int]
    key: str
    sha256: str | None = None
    size: int | None = None


def list_named_files(db: Connection) -> Iterator[NamedFile]:
    """Return every file that a row names, always in the same order."""
    for kind, (query, number, name) in enumerate(_SOURCES):
        last = 0
        while True:
            rows = db.execute(query.where(number > last).order_by(number).limit(_PAGE)).all()
            for row in rows:
                for part, (key, *facts) in enumerate(name(row)):
                    if key:
                        yield NamedFile((kind, row[0], part), key, *facts)
            if len(rows) < _PAGE:
                break
            last = rows[-1][0]


def _of_picture(row: Any) -> Sequence[tuple[Any, ...]]:
    return [(row.original, row.sha256, row.size), (row.proxy,)]


def _of_image(row: Any) -> Sequence[tuple[Any, ...]]:
    # Its size is unknown again once its proofs are removed.
    has_proofs = row.status is ImageStatus.OK and row.width is not None
    shown = [(key,) for key in proof_keys(row.id)] if has_proofs else []
    shown += [(mockup_key(row.id),)] if row.mockup is not None else []
    # The print file is removed with the picture; how it was made stays.
    is_printed = row.printed is not None and row.picture_id is not None
    return [*shown, *([(print_key(row.id), row.printed)] if is_printed else [])]


def _of_slip(row: Any) -> Sequence[tuple[Any, ...]]:
    return [(row.file, row.sha256)]


def _of_logo(row: Any) -> Sequence[tuple[Any, ...]]:
    return [(row.logo,)]


def _of_photo(row: Any) -> Sequence[tuple[Any, ...]]:
    return [(row.file,)]


_SOURCES: Final[Sequence[tuple[Any, Any, Callable[[Any], Sequence[tuple[Any, ...]]]]]] = (
    (
        select(
            pictures.c.id, pictures.c.sha256, pictures.c.size, pictures.c.original, pictures.c.proxy
        ),
        pictures.c.id,
        _of_picture,
    ),
    (
        select(
            images.c.id,
            images.c.status,
            images.c.width,
            images.c.picture_id,
            images.c.mockup,
            images.c.manifest["output_sha256"].as_string().label("printed"),
        ),
        images.c.id,
        _of_image,
    ),
    (
        select(packing_slips.c.order_id, packing_slips.c.file, packing_slips.c.sha256),
        packing_slips.c.order_id,
        _of_slip,
    ),
    (select(issue_photos.c.id, issue_photos.c.file), issue_photos.c.id, _of_photo),
    (select(shops.c.merchant_id, shops.c.logo), shops.c.merchant_id, _of_logo),
    (select(brand.c.id, brand.c.logo), brand.c.id, _of_logo),
    (select(product_pictures.c.id, product_pictures.c.file), product_pictures.c.id, _of_photo),
)
