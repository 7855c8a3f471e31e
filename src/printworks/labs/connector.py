"""What every connection to a lab promises."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from printworks.labs.documents import JobDocument, LabReport, Later


class LabUnavailable(Exception):
    """The lab cannot be reached now; the text is a sentence for the operator."""


class Connector(Protocol):
    """A way to one lab. It may block, and is safe to use from many threads.

    Every method raises `LabUnavailable` if the lab cannot be reached, and is then tried again.
    """

    # Whether the lab says nothing by itself, so that somebody has to look.
    must_be_looked_at: bool

    def place(self, document: JobDocument, files: Mapping[str, Path]) -> Sequence[Later]:
        """Hand a job over with its files, by the names in the document; harmless twice.

        Once this returns, the lab has all of it. What is returned will be reported by itself.
        """

    def cancel(self, job: int) -> None:
        """Tell the lab not to make a job; harmless twice, or if the lab never had it."""

    def look(self) -> Iterator[LabReport]:
        """See what the lab has done since; the same may be reported again and again."""

    def taken(self, report: LabReport) -> None:
        """Note that a report is remembered, so that it need not be repeated; harmless twice."""
