"""People who look at pages, what they look for, and what programs asked.

Revision: 0008, after 0007
"""

import sqlalchemy as sa
from alembic import op

from printworks.rules.search import make_recipient_key
from printworks.store.engine import columns

AT_ONCE = 1000

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply."""
    _add_people()
    _add_requests()
    _add_photographs()
    _add_ways_to_find()
    _fill_keys()


def _add_people() -> None:
    op.create_table(
        "people",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("realm", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=True),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("totp_secret", sa.Text(), nullable=True),
        sa.Column("totp_step", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("failed_at", columns.Timestamp(), nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_people_merchant_id_merchants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
        sa.UniqueConstraint("realm", "email", name=op.f("uq_people_realm_email")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("people", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_people_merchant_id"), ["merchant_id"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("person_id", columns.RowId, nullable=False),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("seen_at", columns.Timestamp(), nullable=False),
        sa.Column("expires_at", columns.Timestamp(), nullable=False),
        sa.Column("proved_at", columns.Timestamp(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("user_agent", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("fk_sessions_person_id_people")
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_sessions")),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_sessions_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_sessions_person_id"), ["person_id"], unique=False)

    op.create_table(
        "invitations",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("realm", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=True),
        sa.Column("person_id", columns.RowId, nullable=True),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.Column("expires_at", columns.Timestamp(), nullable=False),
        sa.Column("used_at", columns.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_invitations_merchant_id_merchants")
        ),
        sa.ForeignKeyConstraint(
            ["person_id"], ["people.id"], name=op.f("fk_invitations_person_id_people")
        ),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_invitations")),
    )

    op.create_table(
        "audit_log",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("at", columns.Timestamp(), nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=True),
        sa.Column("realm", sa.Text(), nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("details", columns.Json, nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_audit_log_merchant_id_merchants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("audit_log", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_audit_log_merchant_id_id"), ["merchant_id", "id"], unique=False
        )


def _add_requests() -> None:
    op.create_table(
        "api_requests",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("merchant_id", columns.RowId, nullable=False),
        sa.Column("at", columns.Timestamp(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["merchant_id"], ["merchants.id"], name=op.f("fk_api_requests_merchant_id_merchants")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_requests")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("api_requests", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_requests_at"), ["at"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_api_requests_merchant_id_id"), ["merchant_id", "id"], unique=False
        )


def _add_photographs() -> None:
    op.create_table(
        "issue_photos",
        sa.Column("id", columns.RowId, nullable=False),
        sa.Column("issue_id", columns.RowId, nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("created_at", columns.Timestamp(), nullable=False),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name=op.f("fk_issue_photos_issue_id_issues")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_issue_photos")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("issue_photos", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_issue_photos_issue_id"), ["issue_id"], unique=False)


def _add_ways_to_find() -> None:
    with op.batch_alter_table("api_keys", schema=None, recreate="never") as batch_op:
        batch_op.add_column(sa.Column("last_used_at", columns.Timestamp(), nullable=True))

    with op.batch_alter_table("orders", schema=None, recreate="never") as batch_op:
        batch_op.add_column(
            sa.Column(
                "recipient_key", columns.ByteText, server_default=sa.text("''"), nullable=False
            )
        )
        batch_op.create_index(
            batch_op.f("ix_orders_merchant_id_created_at"),
            ["merchant_id", "created_at"],
            unique=False,
        )
        batch_op.create_index(
            "ix_orders_recipient",
            ["merchant_id", "recipient_key", "ordinal"],
            unique=False,
            sqlite_where=sa.text("recipient_key != ''"),
            postgresql_where=sa.text("recipient_key != ''"),
        )
        batch_op.create_index(
            "ix_orders_troubled",
            ["id"],
            unique=False,
            sqlite_where=sa.text(
                "held_at IS NOT NULL OR (error_message IS NOT NULL AND status = 'Submitted')"
            ),
            postgresql_where=sa.text(
                "held_at IS NOT NULL OR (error_message IS NOT NULL AND status = 'Submitted')"
            ),
        )

    if op.get_bind().dialect.name == "postgresql":
        op.execute('ALTER TABLE orders ALTER COLUMN merchant_order_id TYPE text COLLATE "C"')

    with op.batch_alter_table("ledger_entries", schema=None, recreate="never") as batch_op:
        batch_op.create_index(
            batch_op.f("ix_ledger_entries_created_at"), ["created_at"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_ledger_entries_merchant_id_created_at"),
            ["merchant_id", "created_at"],
            unique=False,
        )

    with op.batch_alter_table("shipments", schema=None, recreate="never") as batch_op:
        batch_op.create_index(batch_op.f("ix_shipments_shipped_at"), ["shipped_at"], unique=False)

    with op.batch_alter_table("payment_requests", schema=None, recreate="never") as batch_op:
        batch_op.create_index(
            "ix_payment_requests_pending",
            ["id"],
            unique=False,
            sqlite_where=sa.text("state IN ('asked', 'waiting')"),
            postgresql_where=sa.text("state IN ('asked', 'waiting')"),
        )

    with op.batch_alter_table("jobs", schema=None, recreate="never") as batch_op:
        batch_op.create_index(
            "ix_jobs_failed",
            ["id"],
            unique=False,
            sqlite_where=sa.text("state = 'failed'"),
            postgresql_where=sa.text("state = 'failed'"),
        )


def _fill_keys() -> None:
    orders = sa.table(
        "orders", sa.column("id"), sa.column("recipient_name"), sa.column("recipient_key")
    )
    db = op.get_bind()
    last = 0
    while rows := db.execute(
        sa.select(orders.c.id, orders.c.recipient_name)
        .where(orders.c.id > last)
        .order_by(orders.c.id)
        .limit(AT_ONCE)
    ).all():
        last = rows[-1].id
        db.execute(
            sa.update(orders)
            .where(orders.c.id == sa.bindparam("order"))
            .values(recipient_key=sa.bindparam("key")),
            [{"order": row.id, "key": make_recipient_key(row.recipient_name)} for row in rows],
        )
