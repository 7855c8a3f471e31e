"""The ledger, and what merchants may owe.

Revision: 0004, after 0003
"""

import sqlalchemy as sa
from alembic import op

from printworks.store.engine import columns

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "ledger_entries",
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("order_id", columns.RowId, nullable=True),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("lines", columns.Json, nullable=False),
        sa.Column("memo", sa.Text(), nullable=False),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_ledger_entries_merchant_id_merchants")
        ),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_ledger_entries_order_id_orders")
        ),
        sa.PrimaryKeyConstraint("merchant_id", "number", name=op.f("pk_ledger_entries")),
        sa.UniqueConstraint("merchant_id", "key", name=op.f("uq_ledger_entries_merchant_id_key")),
    )
    with op.batch_alter_table("ledger_entries", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ledger_entries_order_id"), ["order_id"], unique=False)

    with op.batch_alter_table("merchants", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("ledger_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        )
        batch_op.add_column(
            sa.Column("ledger_head", sa.Text(), server_default=sa.text("''"), nullable=False)
        )
        batch_op.add_column(
            sa.Column("balance", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        )
        batch_op.add_column(sa.Column("credit_limit", sa.BigInteger(), nullable=True))
