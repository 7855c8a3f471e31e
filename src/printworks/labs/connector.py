"""The protocol of every connector to a lab."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from printworks.labs.documents import JobDocument, LabReport, Later, PlacedJob


class LabUnavailable(Exception):
    """The lab cannot be reached now; the text is a sentence for the operator."""


class LabConnector(Protocol):
    """Connects to one lab. It may block, and is safe to use from many threads.

    Every method raises `LabUnavailable` if the lab cannot be reached; retry it then.
    """

    # Whether the lab sends no reports by itself, so that it has to be polled.
    must_be_polled: bool

    def place(self, document: JobDocument, files: Mapping[str, Path]) -> Sequence[Later]:
        """Send a job with its files, by their names in the document. Idempotent.

        Once this returns, the lab has all of it. Apply the returned reports when they are due.
        """

    def cancel(self, name: str) -> None:
        """Cancel a job at the lab, by its name. Idempotent, also if the lab never had it."""

    def poll(self) -> Iterator[LabReport]:
        """Return the reports of the lab; the same report may come many times."""

    def list_jobs(self) -> Iterator[PlacedJob]:
        """Return every job that the lab has or had, also those that we know nothing of."""

    def acknowledge(self, report: LabReport) -> None:
        """Note that a report is stored, so that it is not repeated. Idempotent."""

    def erase(self, job: int) -> int:
        """Delete what the lab has of a job that is over; return how many copies. Idempotent."""
