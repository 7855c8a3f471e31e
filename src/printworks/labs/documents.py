"""The documents that labs receive (jobs) and send (reports)."""

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple

import msgspec

from printworks.rules.production import LabState


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """Where the shipment goes."""

    name: str | None
    address1: str | None
    address2: str | None
    town_or_city: str | None
    state_or_county: str | None
    postal_code: str | None
    country: str | None
    telephone: str | None
    email: str | None


class JobFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of a job, under this name."""

    name: str
    sha256: str


class JobItem(msgspec.Struct, frozen=True, kw_only=True):
    """One image to print."""

    image: int
    sku: str
    description: str
    copies: int
    attributes: Mapping[str, str]
    print: JobFile
    # A small version of the picture, for people.
    thumbnail: str
    # The size of the print file in pixels, and its density at the size of the product.
    width: int
    height: int
    dpi: int
    # Of one copy, for customs, in minor units; None if the parcel crosses no customs border.
    value: int | None


class JobService(msgspec.Struct, frozen=True, kw_only=True):
    """How the shipment is sent."""

    code: str
    name: str
    carrier: str
    method: str
    is_tracked: bool


class Customs(msgspec.Struct, frozen=True, kw_only=True):
    """The value of the shipment in minor units; the invoice is what the merchant entered.

    The value is for customs: None if the parcel crosses no border of theirs.
    """

    currency: str
    value: int | None
    invoice_amount_net: int
    invoice_tax: int
    invoice_currency: str | None


class JobDocument(msgspec.Struct, frozen=True, kw_only=True):
    """All that a lab needs to make and send one shipment."""

    format: int = 1
    # The number of the job for the lab and for us.
    job: int
    # The number with a part that nobody can guess: every answer must repeat it.
    name: str
    lab: str
    # Who runs the service, if the operator has given it a name.
    operator: str | msgspec.UnsetType = msgspec.UNSET
    environment: str
    order: int
    merchant: str
    merchant_order_id: str | None
    # The order of which this one is a free reprint.
    reprint_of: int | None = None
    # How many labs have rejected it before.
    rejections: int
    ordered_at: datetime
    dispatch_by: date
    address: Address
    service: JobService
    items: list[JobItem]
    packing_slip: JobFile | None
    customs: Customs

    @property
    def copies(self) -> int:
        """How many prints there are in all."""
        return sum(item.copies for item in self.items)


class LabReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a lab reports about a job. It may come late, twice or in the wrong order."""

    job: int
    state: LabState
    # The name of the job, as the lab repeats it; empty if a person reports for the lab.
    name: str = ""
    carrier: str | None = None
    tracking_number: str | None = None
    tracking_url: str | None = None
    # Why it was rejected or failed.
    reason: str | None = None
    # The SHA-256 of each file that was printed, by name, if the lab reports it.
    printed: Mapping[str, str] = {}


class PlacedJob(NamedTuple):
    """A job that a lab has, by its name, and where it is there."""

    name: str
    where: str


class Later(NamedTuple):
    """A report that will be due after a while."""

    wait: timedelta
    report: LabReport
