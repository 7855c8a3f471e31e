"""Price lists, the groups of merchants that they are for, and what was changed."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Table, Text, false, text

from printworks.store.engine.columns import Json, RowId, Timestamp
from printworks.store.tables.base import metadata

# Merchants that have a list together; each is in one group at most.
merchant_groups = Table(
    "merchant_groups",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

price_lists = Table(
    "price_lists",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("name", Text, nullable=False),
    # In hundredths of a percent, off everything that no line is about.
    Column("percent_off", BigInteger, nullable=False, server_default=text("0")),
    # Prices and percentages by product and number of copies: see `rules/price_lists.py`.
    Column("lines", Json, nullable=False, server_default=text("'[]'")),
    # Whose it is; both are null until it is assigned.
    Column("merchant_id", ForeignKey("merchants.id"), index=True),
    Column("group_id", ForeignKey("merchant_groups.id"), index=True),
    Column("valid_from", Timestamp, nullable=False),
    Column("valid_until", Timestamp),
    Column("is_suspended", Boolean, nullable=False, server_default=false()),
    # The last change of it.
    Column("revision", BigInteger, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

# Every change, with the list as it was afterwards. Rows are only added.
price_list_changes = Table(
    "price_list_changes",
    metadata,
    Column("revision", BigInteger, primary_key=True, autoincrement=False),
    Column("list_id", ForeignKey("price_lists.id"), nullable=False),
    Column("change", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("content", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Index(None, "list_id", "revision"),
)

# One row: the number of the latest change. Whoever changes a list locks it, so that changes are
# seen in the order of their numbers.
price_book = Table(
    "price_book",
    metadata,
    Column("name", Text, primary_key=True),
    Column("revision", BigInteger, nullable=False),
)
