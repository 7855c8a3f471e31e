"""A job to place, and the files that come with it."""

import hashlib
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from printworks.labs.documents import (
    Address,
    Customs,
    JobDocument,
    JobFile,
    JobItem,
    JobService,
)
from printworks.rules.production import name_job


def picture_of(name: str) -> bytes:
    """Return what stands for the content of a file."""
    return f"the picture {name} ".encode() * 100


def a_file(name: str) -> JobFile:
    """Describe a file by its name and content."""
    return JobFile(name=name, sha256=hashlib.sha256(picture_of(name)).hexdigest())


def an_item(image: int = 501, **values: Any) -> JobItem:
    """Describe one image to print: a 6x4 inch photograph."""
    given = {
        "image": image,
        "sku": "PHOTO-4x6",
        "description": "4x6 inch print",
        "copies": 2,
        "attributes": {"finish": "gloss"},
        "print": a_file(f"{image}.jpg"),
        "thumbnail": f"{image}-thumbnail.jpg",
        "width": 1800,
        "height": 1200,
        "dpi": 300,
        "value": 19,
        **values,
    }
    return JobItem(**given)


def name_of(job: int) -> str:
    """Name a job as the lab knows it."""
    return name_job(job, "k3v7x2mq7c")


def a_job(job: int = 7, *, is_tracked: bool = True, **values: Any) -> JobDocument:
    """Describe a parcel of one image."""
    given = {
        "job": job,
        "name": name_of(job),
        "lab": "york",
        "environment": "sandbox",
        "order": 42,
        "merchant": "Alice",
        "merchant_order_id": "A-1001",
        "rejections": 0,
        "ordered_at": datetime(2026, 11, 15, 12, tzinfo=UTC),
        "dispatch_by": date(2026, 11, 17),
        "address": Address(
            name="Mary Fox",
            address1="1 High Street",
            address2=None,
            town_or_city="York",
            state_or_county=None,
            postal_code="YO1 7EP",
            country="GB",
            telephone=None,
            email=None,
        ),
        "service": JobService(
            code="parcel", name="Parcel", carrier="DHL", method="Standard", is_tracked=is_tracked
        ),
        "items": [an_item()],
        "packing_slip": None,
        "customs": Customs(
            currency="GBP", value=38, invoice_amount_net=0, invoice_tax=0, invoice_currency=None
        ),
        **values,
    }
    return JobDocument(**given)


def files_of(document: JobDocument, folder: Path) -> Mapping[str, Path]:
    """Write the files of a job somewhere, and say where."""
    folder.mkdir(exist_ok=True)
    names = [name for item in document.items for name in (item.print.name, item.thumbnail)]
    names += [document.packing_slip.name] if document.packing_slip else []
    files = {}
    for number, name in enumerate(names):
        files[name] = folder / f"{document.job}-{number}"
        files[name].write_bytes(picture_of(name))
    return files
