"""Issues, with their remarks and photos."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Table, Text

from printworks.rules.issues import Author, IssueAction, IssueKind, IssueState, Resolution
from printworks.store.engine.columns import EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# Complaints about orders.
issues = Table(
    "issues",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("kind", EnumText(IssueKind), nullable=False),
    Column("detail", Text),
    # What the merchant asks for.
    Column("action", EnumText(IssueAction), nullable=False),
    Column("action_detail", Text),
    # The images that it is about; empty is all of them.
    Column("image_ids", Json, nullable=False),
    Column("state", EnumText(IssueState), nullable=False),
    # What the merchant got: a refund, in minor units, or another order.
    Column("resolution", EnumText(Resolution)),
    Column("refund", BigInteger),
    Column("reprint_order_id", ForeignKey("orders.id"), index=True),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

# What operators have to settle, the oldest first.
partial_index("ix_issues_unsettled", issues.c.id, where="state IN ('Open', 'InProgress')")

# A merchant's open issues among any number of settled ones.
partial_index(
    "ix_issues_of_merchant",
    issues.c.merchant_id,
    issues.c.id,
    where="state IN ('Open', 'InProgress')",
)

# Comments on an issue and changes of its state, in order.
issue_remarks = Table(
    "issue_remarks",
    metadata,
    Column("issue_id", ForeignKey("issues.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Timestamp, nullable=False),
    Column("author", EnumText(Author), nullable=False),
    # The change of state; both are null for a comment alone.
    Column("was", EnumText(IssueState)),
    Column("state", EnumText(IssueState)),
    Column("comment", Text),
)

# Photos that show what an issue is about.
issue_photos = Table(
    "issue_photos",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("issue_id", ForeignKey("issues.id"), nullable=False, index=True),
    # The stored file: re-encoded, never the file that was uploaded.
    Column("file", Text, nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)
