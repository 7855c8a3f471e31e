"""Prices, plans and shipments.

Revision: 0003, after 0002
"""

import sqlalchemy as sa
from alembic import op

from printworks.store.engine import columns

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "plans",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("order_id", columns.RowId, nullable=False),
        sa.Column("routing", columns.Json, nullable=False),
        sa.Column("without", columns.Json, nullable=False),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(["order_id"], ["orders.id"], name=op.f("fk_plans_order_id_orders")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("plans", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_plans_order_id"), ["order_id"], unique=False)

    op.create_table(
        "shipments",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("order_id", columns.RowId, nullable=False),
        sa.Column("state", sa.Text(), nullable=True),
        sa.Column("lab", sa.Text(), nullable=False),
        sa.Column("band", sa.Text(), nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("carrier", sa.Text(), nullable=False),
        sa.Column("is_tracked", sa.Boolean(), nullable=False),
        sa.Column("price", sa.BigInteger(), nullable=False),
        sa.Column("image_ids", columns.Json, nullable=False),
        sa.Column("copies", sa.Integer(), nullable=False),
        sa.Column("earliest_arrival", sa.Text(), nullable=False),
        sa.Column("latest_arrival", sa.Text(), nullable=False),
        sa.Column("sent_at", columns.Timestamp(), nullable=True),
        sa.Column("held_because", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("tracking_number", sa.Text(), nullable=True),
        sa.Column("tracking_url", sa.Text(), nullable=True),
        sa.Column("shipped_at", columns.Timestamp(), nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("updated_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_shipments_order_id_orders")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shipments")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("shipments", schema=None) as batch_op:
        batch_op.create_index(
            "ix_shipments_open",
            ["lab", "copies"],
            unique=False,
            sqlite_where=sa.text("state IN ('offered', 'accepted', 'in-production', 'failed')"),
            postgresql_where=sa.text("state IN ('offered', 'accepted', 'in-production', 'failed')"),
        )
        batch_op.create_index(batch_op.f("ix_shipments_order_id"), ["order_id"], unique=False)

    with op.batch_alter_table("images", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("price", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        )

    with op.batch_alter_table("merchants", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("currency", sa.Text(), server_default=sa.text("'GBP'"), nullable=False)
        )

        batch_op.add_column(sa.Column("advancing_until", columns.Timestamp(), nullable=True))

    with op.batch_alter_table("orders", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("currency", sa.Text(), nullable=True))
        batch_op.add_column(
            sa.Column("price", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        )
        batch_op.add_column(
            sa.Column(
                "shipping_price", sa.BigInteger(), server_default=sa.text("0"), nullable=False
            )
        )
        batch_op.add_column(sa.Column("held_at", columns.Timestamp(), nullable=True))
