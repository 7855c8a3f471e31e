"""Originals of pictures that are known, and what follows if one of them is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from printworks.files.errors import FileMissing
from printworks.store.images import pictures as store
from printworks.store.images.pictures import Picture
from printworks.worker.loop import Context
from printworks.worker.resources import Resources

log = structlog.get_logger()


@contextmanager
def open_original(resources: Resources, picture: Picture) -> Iterator[Path]:
    """Yield a path to read an original from; raise `FileMissing` if it was lost."""
    if picture.original is None:
        raise FileMissing(f"originals/{picture.sha256}")
    with resources.files.local(picture.original) as source:
        yield source


def forget_original(context: Context, picture: Picture) -> None:
    """Note that an original is lost, so that it is stored when the same content comes again."""
    log.error("original is missing", file=picture.original, sha256=picture.sha256)
    with context.database.writing() as db:
        store.forget_original(db, picture)
