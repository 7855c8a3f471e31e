"""Images, pictures and packing slips, and the key that signs addresses.

Revision: 0002, after 0001
"""

import secrets

import sqlalchemy as sa
from alembic import op

from printworks.store.engine import columns

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    op.create_table(
        "pictures",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("md5", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("facts", columns.Json, nullable=True),
        sa.Column("refusal", sa.Text(), nullable=True),
        sa.Column("original", sa.Text(), nullable=True),
        sa.Column("proxy", sa.Text(), nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("used_at", columns.Timestamp(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pictures")),
        sa.UniqueConstraint("sha256", name=op.f("uq_pictures_sha256")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("pictures", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_pictures_used_at"), ["used_at"], unique=False)

    op.create_table(
        "secrets",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_secrets")),
    )
    op.create_table(
        "downloads",
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("url_hash", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=False),
        sa.Column("last_modified", sa.Text(), nullable=False),
        sa.Column("picture_id", columns.RowId, nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_downloads_merchant_id_merchants")
        ),
        sa.ForeignKeyConstraint(
            ["picture_id"], ["pictures.id"], name=op.f("fk_downloads_picture_id_pictures")
        ),
        sa.PrimaryKeyConstraint("merchant_id", "url_hash", name=op.f("pk_downloads")),
    )
    with op.batch_alter_table("downloads", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_downloads_picture_id"), ["picture_id"], unique=False)

    op.create_table(
        "images",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("order_id", columns.RowId, nullable=False),
        sa.Column("sku", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("copies", sa.Integer(), nullable=False),
        sa.Column("sizing", sa.Text(), nullable=False),
        sa.Column("price_to_user", sa.BigInteger(), nullable=True),
        sa.Column("attributes", columns.Json, nullable=False),
        sa.Column("expected_md5", sa.Text(), nullable=True),
        sa.Column("md5", sa.Text(), nullable=True),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("picture_id", columns.RowId, nullable=True),
        sa.Column("manifest", columns.Json, nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("updated_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_images_order_id_orders")
        ),
        sa.ForeignKeyConstraint(
            ["picture_id"], ["pictures.id"], name=op.f("fk_images_picture_id_pictures")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_images")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("images", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_images_order_id"), ["order_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_images_picture_id"), ["picture_id"], unique=False)

    op.create_table(
        "packing_slips",
        sa.Column("order_id", columns.RowId, nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=True),
        sa.Column("sha256", sa.Text(), nullable=True),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("updated_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["order_id"], ["orders.id"], name=op.f("fk_packing_slips_order_id_orders")
        ),
        sa.PrimaryKeyConstraint("order_id", name=op.f("pk_packing_slips")),
    )
    with op.batch_alter_table("orders", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column("image_count", sa.Integer(), server_default=sa.text("0"), nullable=False)
        )

    # Made here, so that it is there before any process needs it and is the same for all.
    table = sa.table("secrets", sa.column("name"), sa.column("value"))
    op.bulk_insert(table, [{"name": "links", "value": secrets.token_hex(32)}])
