"""Payments that somebody is asked for, and how merchants pay.

Revision: 0005, after 0004
"""

import sqlalchemy as sa
from alembic import op

from printworks.store.engine import columns

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "simulated_charges",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_simulated_charges")),
    )
    op.create_table(
        "payment_requests",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("order_id", columns.RowId, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("payer", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("customer", sa.Text(), nullable=False),
        sa.Column("payment_method", sa.Text(), nullable=False),
        sa.Column("reference", sa.Text(), server_default=sa.text("''"), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("expires_at", columns.Timestamp(), nullable=False),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("updated_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"],
            ["merchants.id"],
            name=op.f("fk_payment_requests_merchant_id_merchants"),
        ),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_payment_requests_order_id_orders")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payment_requests")),
        sa.UniqueConstraint("key", name=op.f("uq_payment_requests_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("payment_requests", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_payment_requests_order_id"), ["order_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_payment_requests_merchant_id"), ["merchant_id"], unique=False
        )
        batch_op.create_index(
            "uq_payment_requests_paying",
            ["order_id"],
            unique=True,
            sqlite_where=sa.text("state IN ('asked', 'waiting', 'paid')"),
            postgresql_where=sa.text("state IN ('asked', 'waiting', 'paid')"),
        )

    with op.batch_alter_table("merchants", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("billing", sa.Text(), server_default=sa.text("'card'"), nullable=False)
        )
        batch_op.add_column(
            sa.Column("customer", sa.Text(), server_default=sa.text("''"), nullable=False)
        )
        batch_op.add_column(
            sa.Column("payment_method", sa.Text(), server_default=sa.text("''"), nullable=False)
        )

    # Until now all of them were on account.
    op.execute("UPDATE merchants SET billing = 'account'")

    with op.batch_alter_table("orders", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("payment_request_id", sa.BigInteger(), nullable=True))
        batch_op.add_column(sa.Column("pay_until", columns.Timestamp(), nullable=True))
