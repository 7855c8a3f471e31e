"""What the older versions say of orders and images, and lists of some of the orders.

Revision: 0007, after 0006
"""

import sqlalchemy as sa
from alembic import op

from printworks.store.engine import columns

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    with op.batch_alter_table("orders", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("is_tracked", sa.Boolean(), server_default=sa.false(), nullable=False)
        )
        batch_op.add_column(sa.Column("quality_level", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("print_country", sa.Text(), nullable=True))
        batch_op.create_index(
            batch_op.f("ix_orders_merchant_id_status_ordinal"),
            ["merchant_id", "status", "ordinal"],
            unique=False,
        )
        batch_op.create_index(
            "ix_orders_reference",
            ["merchant_id", "merchant_order_id", "ordinal"],
            unique=False,
            sqlite_where=sa.text("merchant_order_id IS NOT NULL"),
            postgresql_where=sa.text("merchant_order_id IS NOT NULL"),
        )

    with op.batch_alter_table("images", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("formats", sa.Text(), nullable=True))

    _add_issues()


def _add_issues() -> None:
    op.create_table(
        "issues",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("order_id", columns.RowId, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=True),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("action_detail", sa.Text(), nullable=True),
        sa.Column("image_ids", columns.Json, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("resolution", sa.Text(), nullable=True),
        sa.Column("refund", sa.BigInteger(), nullable=True),
        sa.Column("reprint_order_id", columns.RowId, nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("updated_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_issues_merchant_id_merchants")
        ),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_issues_order_id_orders")
        ),
        sa.ForeignKeyConstraint(
            ["reprint_order_id"], ["orders.id"], name=op.f("fk_issues_reprint_order_id_orders")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issues")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("issues", schema=None) as batch_op:
        for column in ("merchant_id", "order_id", "reprint_order_id"):
            batch_op.create_index(batch_op.f(f"ix_issues_{column}"), [column], unique=False)
        batch_op.create_index(
            "ix_issues_unsettled",
            ["id"],
            unique=False,
            sqlite_where=sa.text("state IN ('Open', 'InProgress')"),
            postgresql_where=sa.text("state IN ('Open', 'InProgress')"),
        )
    op.create_table(
        "issue_remarks",
        sa.Column("issue_id", columns.RowId, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", columns.Timestamp(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("was", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name=op.f("fk_issue_remarks_issue_id_issues")
        ),
        sa.PrimaryKeyConstraint("issue_id", "number", name=op.f("pk_issue_remarks")),
    )
