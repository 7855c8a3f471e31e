"""Reads many documents, some at a time: a slow reader holds no transaction."""

from collections.abc import Iterator

from printworks.rules.invoices import Invoice
from printworks.store.engine.database import Database
from printworks.store.money.invoices import list_documents


def read_documents(
    database: Database, merchant_id: int | None, *, year: int | None = None
) -> Iterator[Invoice]:
    """Yield the documents of a merchant or of all, oldest first."""
    after = 0
    while True:
        with database.reading() as db:
            page = list_documents(db, merchant_id, year=year, after=after)
        yield from (document for _, document in page)
        if not page:
            return
        after = page[-1][0]
