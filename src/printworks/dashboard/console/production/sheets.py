"""The job sheets and print files of several lab jobs at once."""

import base64
import csv
import hashlib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from starlette.responses import Response, StreamingResponse

from printworks.actions.brand import read_paper_brand
from printworks.dashboard.console.production.job_sheet import (
    PRIVATE,
    LeftOut,
    find_document,
    read_thumbnails,
)
from printworks.dashboard.shared.archives import send_archive
from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.files.archives import ArchiveWriter, write_zip
from printworks.files.store import Files
from printworks.labs.documents import JobDocument
from printworks.labs.print_paths import place_prints
from printworks.labs.sheet import write_sheet
from printworks.store.images.pictures import print_key

# An archive that is larger is written by the labs' own folders.
MOST_BYTES: Final = 8_000_000_000
# The foot of a page names its job, and only one foot can be given for all pages.
_FOOT: Final = re.compile(r"@bottom-left \{[^}]*\}")
_APART: Final = ".sheet + .sheet { break-before: page; margin-top: 12mm; }\n"
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]+")


class FoundJobs(NamedTuple):
    """The documents of lab jobs that can be printed, and why the others cannot, by number."""

    documents: Sequence[JobDocument]
    left_out: Mapping[int, LeftOut]


def find_jobs(visit: ConsoleVisit, chosen: Sequence[int]) -> FoundJobs:
    """Return the documents of the chosen lab jobs; refuse if none of them can be printed."""
    with visit.services.database.reading() as db:
        found = {number: find_document(visit.within(db), number) for number in chosen}
    documents = [one for one in found.values() if isinstance(one, JobDocument)]
    left_out = {number: one for number, one in found.items() if isinstance(one, LeftOut)}
    if not documents:
        raise BadInput(f"None of the chosen lab jobs can be printed now: {_list(left_out)}.")
    return FoundJobs(documents, left_out)


def _list(left_out: Mapping[int, LeftOut]) -> str:
    return ", ".join(f"{number} ({why})" for number, why in left_out.items())


def print_sheets(visit: ConsoleVisit, jobs: FoundJobs) -> Response:
    """Return the sheets of lab jobs as one page for paper, each on a sheet of its own."""
    path = visit.services.settings.lab_print_path
    style = _write_style(jobs.documents[0])
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )
    content = _draw_all(jobs, style, visit.services.files, path)
    headers = {**PRIVATE, "Content-Security-Policy": policy}
    return StreamingResponse(content, media_type="text/html; charset=utf-8", headers=headers)


def _write_style(document: JobDocument) -> str:
    style = write_sheet(document, {}, {}).partition("<style>")[2].partition("</style>")[0]
    return _FOOT.sub("", style) + _APART


def _draw_all(jobs: FoundJobs, style: str, files: Files, path: str) -> Iterator[bytes]:
    yield f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{len(jobs.documents)} job sheets</title>\n<style>{style}</style>\n</head>\n<body>\n'.encode()
    if jobs.left_out:
        yield f"<p>Not printed here: lab jobs {_list(jobs.left_out)}.</p>\n".encode()
    logo = read_paper_brand(find_brand(), files).logo
    for document in jobs.documents:
        places = {name: str(place) for name, place in place_prints(document, path).items()}
        sheet = write_sheet(document, places, read_thumbnails(document, files), logo)
        body = sheet.partition("<body>")[2].partition("</body>")[0]
        yield f'<section class="sheet">{body}</section>\n'.encode()
    yield b"</body>\n</html>\n"


def download_prints(visit: ConsoleVisit, jobs: FoundJobs) -> Response:
    """Return the print files of lab jobs as one ZIP with a list, written while it is sent."""
    names = _name_prints(jobs.documents)
    writer = ArchiveWriter(visit.services.files, visit.real_now, most_bytes=MOST_BYTES)
    archive = write_zip(writer, ("jobs.csv", _write_list(jobs)), names)
    return send_archive(archive, "prints", visit.real_now)


def _name_prints(documents: Sequence[JobDocument]) -> Mapping[str, str]:
    """Name the files so that they sort by job, and say how many of each are to be printed."""
    return {
        _name(document, place): print_key(document.items[place].image)
        for document in documents
        for place in range(len(document.items))
    }


def _name(document: JobDocument, place: int) -> str:
    item = document.items[place]
    sku = _UNSAFE.sub("-", item.sku)
    return f"job-{document.job}/{item.image}-{item.copies}x-{sku}.jpg"


def _write_list(jobs: FoundJobs) -> bytes:
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow(("job", "order", "image", "sku", "copies", "file"))
    for document in jobs.documents:
        for place, item in enumerate(document.items):
            known = (document.job, document.order, item.image, item.sku, item.copies)
            table.writerow((*known, _name(document, place)))
    table.writerows((number, "", "", "", "", why.value) for number, why in jobs.left_out.items())
    return written.getvalue().encode("utf-8-sig")
