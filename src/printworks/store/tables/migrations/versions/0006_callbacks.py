"""Callbacks, their attempts, and where merchants want to be told.

Revision: 0006, after 0005
"""

import sqlalchemy as sa
from alembic import op

from printworks.store.engine import columns

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "callbacks",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=True),
        sa.Column("order_id", columns.RowId, nullable=True),
        sa.Column("sequence", sa.Integer(), nullable=True),
        sa.Column("event_id", columns.RowId, nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("round", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("next_at", columns.Timestamp(), nullable=True),
        sa.Column("delivered_at", columns.Timestamp(), nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_callbacks_merchant_id_merchants")
        ),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_callbacks_order_id_orders")
        ),
        sa.ForeignKeyConstraint(
            ["event_id"], ["order_events.id"], name=op.f("fk_callbacks_event_id_order_events")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_callbacks")),
        sa.UniqueConstraint("merchant_id", "number", name=op.f("uq_callbacks_merchant_id_number")),
        sa.UniqueConstraint("order_id", "sequence", name=op.f("uq_callbacks_order_id_sequence")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("callbacks", schema=None) as batch_op:
        batch_op.create_index(
            "ix_callbacks_given_up",
            ["merchant_id", "number"],
            unique=False,
            sqlite_where=sa.text("state = 'given-up'"),
            postgresql_where=sa.text("state = 'given-up'"),
        )

    op.create_table(
        "callback_attempts",
        sa.Column("callback_id", columns.RowId, nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", columns.Timestamp(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["callback_id"],
            ["callbacks.id"],
            name=op.f("fk_callback_attempts_callback_id_callbacks"),
        ),
        sa.PrimaryKeyConstraint("callback_id", "number", name=op.f("pk_callback_attempts")),
    )
    with op.batch_alter_table("callback_attempts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_callback_attempts_at"), ["at"], unique=False)

    with op.batch_alter_table("merchants", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("event_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        )
        batch_op.add_column(sa.Column("callback_url", sa.Text(), nullable=True))
        batch_op.add_column(sa.Column("callback_format", sa.Text(), nullable=True))
        batch_op.add_column(
            sa.Column(
                "callback_secrets", columns.Json, server_default=sa.text("'[]'"), nullable=False
            )
        )

    with op.batch_alter_table("orders", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("callback_format", sa.Text(), server_default=sa.text("'3.0'"), nullable=False)
        )
