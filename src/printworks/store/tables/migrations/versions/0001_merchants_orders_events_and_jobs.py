"""Merchants, orders, events and jobs.

Revision: 0001, after None
"""

import sqlalchemy as sa
from alembic import op

from printworks.store.engine import columns

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "merchants",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("order_count", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("clock_offset", columns.Duration(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_merchants")),
        sa.UniqueConstraint("code", name=op.f("uq_merchants_code")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "api_keys",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("hint", sa.Text(), nullable=False),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("expires_at", columns.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_api_keys_merchant_id_merchants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("hash", name=op.f("uq_api_keys_hash")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("api_keys", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_keys_merchant_id"), ["merchant_id"], unique=False)

    op.create_table(
        "idempotency_keys",
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=False),
        sa.Column("claimed_until", columns.Timestamp(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("answer_status", sa.Integer(), nullable=True),
        sa.Column("answer_media_type", sa.Text(), nullable=True),
        sa.Column("answer_body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"],
            ["merchants.id"],
            name=op.f("fk_idempotency_keys_merchant_id_merchants"),
        ),
        sa.PrimaryKeyConstraint("merchant_id", "key", name=op.f("pk_idempotency_keys")),
    )
    with op.batch_alter_table("idempotency_keys", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_idempotency_keys_created_at"), ["created_at"], unique=False
        )

    op.create_table(
        "jobs",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=True),
        sa.Column("lane", sa.Text(), nullable=False),
        sa.Column("args", columns.Json, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("due_at", columns.Timestamp(), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("fence", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("worker", sa.Text(), nullable=True),
        sa.Column("lease_until", columns.Timestamp(), nullable=True),
        sa.Column("dedupe_key", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("finished_at", columns.Timestamp(), nullable=True),
        sa.CheckConstraint(
            "state IN ('scheduled', 'due', 'running', 'done', 'failed', 'cancelled')",
            name=op.f("ck_jobs_state"),
        ),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_jobs_merchant_id_merchants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("dedupe_key", name=op.f("uq_jobs_dedupe_key")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index(
            "ix_jobs_due",
            ["lane", "due_at", "id"],
            unique=False,
            sqlite_where=sa.text("state = 'due'"),
            postgresql_where=sa.text("state = 'due'"),
        )
        batch_op.create_index(
            "ix_jobs_finished",
            ["finished_at"],
            unique=False,
            sqlite_where=sa.text("finished_at IS NOT NULL"),
            postgresql_where=sa.text("finished_at IS NOT NULL"),
        )
        batch_op.create_index(
            "ix_jobs_merchant_scheduled",
            ["merchant_id"],
            unique=False,
            sqlite_where=sa.text("state = 'scheduled'"),
            postgresql_where=sa.text("state = 'scheduled'"),
        )
        batch_op.create_index(
            "ix_jobs_running",
            ["lane"],
            unique=False,
            sqlite_where=sa.text("state = 'running'"),
            postgresql_where=sa.text("state = 'running'"),
        )
        batch_op.create_index(
            "ix_jobs_scheduled",
            ["due_at"],
            unique=False,
            sqlite_where=sa.text("state = 'scheduled'"),
            postgresql_where=sa.text("state = 'scheduled'"),
        )

    op.create_table(
        "orders",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("ordinal", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("merchant_order_id", sa.Text(), nullable=True),
        sa.Column("recipient_name", sa.Text(), nullable=True),
        sa.Column("address1", sa.Text(), nullable=True),
        sa.Column("address2", sa.Text(), nullable=True),
        sa.Column("town_or_city", sa.Text(), nullable=True),
        sa.Column("state_or_county", sa.Text(), nullable=True),
        sa.Column("postal_code", sa.Text(), nullable=True),
        sa.Column("destination_country", sa.Text(), nullable=True),
        sa.Column("mobile_telephone", sa.Text(), nullable=True),
        sa.Column("telephone", sa.Text(), nullable=True),
        sa.Column("email", sa.Text(), nullable=True),
        sa.Column("shipping_method", sa.Text(), nullable=False),
        sa.Column("payment", sa.Text(), nullable=False),
        sa.Column("payment_token", sa.Text(), nullable=True),
        sa.Column("packing_slip_url", sa.Text(), nullable=True),
        sa.Column("invoice_amount_net", sa.BigInteger(), nullable=False),
        sa.Column("invoice_tax", sa.BigInteger(), nullable=False),
        sa.Column("invoice_currency", sa.Text(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("updated_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_orders_merchant_id_merchants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_orders")),
        sa.UniqueConstraint("merchant_id", "ordinal", name=op.f("uq_orders_merchant_id_ordinal")),
        sa.UniqueConstraint("payment_token", name=op.f("uq_orders_payment_token")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "order_events",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("order_id", columns.RowId, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("facts", columns.Json, nullable=False),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_order_events_order_id_orders")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_order_events")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("order_events", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_order_events_order_id"), ["order_id"], unique=False)
