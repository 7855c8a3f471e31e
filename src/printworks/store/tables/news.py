"""What the people of a merchant should know."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table

from printworks.rules.mail import MailKind
from printworks.store.engine.columns import EnumText, RowId, Timestamp
from printworks.store.tables.base import metadata

# What goes wrong or is answered, which is rare; shipments and orders that are complete are read from
# the merchant's feed. Nothing that leads to a person: a page reads the order itself.
news = Table(
    "news",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    Column("kind", EnumText(MailKind), nullable=False),
    # The first of what it tells of, and how many there were at once.
    Column("order_id", BigInteger),
    Column("subject", BigInteger, nullable=False),
    Column("count", Integer, nullable=False),
    # In the merchant's time.
    Column("at", Timestamp, nullable=False),
    # In real time, for the sweep that deletes old ones.
    Column("created_at", Timestamp, nullable=False, index=True),
    Index(None, "merchant_id", "id"),
    sqlite_autoincrement=True,
)
