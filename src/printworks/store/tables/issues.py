"""Complaints, and what was said and done about them."""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table, Text, text

from printworks.rules.issues import Author, IssueAction, IssueKind, IssueState, Resolution
from printworks.store.engine.columns import EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata

# Complaints about orders.
issues = Table(
    "issues",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("kind", EnumText(IssueKind), nullable=False),
    Column("detail", Text),
    # What the merchant wants.
    Column("action", EnumText(IssueAction), nullable=False),
    Column("action_detail", Text),
    # The images that it is about; none is all of them.
    Column("image_ids", Json, nullable=False),
    Column("state", EnumText(IssueState), nullable=False),
    # What the merchant got: money back, in minor units, or another order.
    Column("resolution", EnumText(Resolution)),
    Column("refund", BigInteger),
    Column("reprint_order_id", ForeignKey("orders.id"), index=True),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

_is_unsettled = text("state IN ('Open', 'InProgress')")

# What an operator has to look into, the oldest first.
Index(
    "ix_issues_unsettled",
    issues.c.id,
    sqlite_where=_is_unsettled,
    postgresql_where=_is_unsettled,
)

# What was said and done about an issue, one after the other.
issue_remarks = Table(
    "issue_remarks",
    metadata,
    Column("issue_id", ForeignKey("issues.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Timestamp, nullable=False),
    Column("author", EnumText(Author), nullable=False),
    # Where the issue went from and to; both are null if somebody only said something.
    Column("was", EnumText(IssueState)),
    Column("state", EnumText(IssueState)),
    Column("comment", Text),
)

# Photographs that show what an issue is about.
issue_photos = Table(
    "issue_photos",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("issue_id", ForeignKey("issues.id"), nullable=False, index=True),
    # Where it is kept: drawn anew by us, never the file that came.
    Column("file", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)
