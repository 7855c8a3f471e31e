"""Create every table of the first release.

A copy that stays as it is: it imports nothing of the program, whose tables go on changing.
"""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

revision = "0001"
down_revision = None
# The oldest program that works with these tables, by the revision that it needs.
serves_from = "0001"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXT = sa.Text()
BYTE_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
INTEGER, BIGINT = sa.Integer(), sa.BigInteger()
BOOLEAN, BINARY = sa.Boolean(), sa.LargeBinary()
JSON = sa.JSON().with_variant(JSONB(), "postgresql")
TIMESTAMP = sa.DateTime(timezone=True).with_variant(sa.Text(), "sqlite")

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def upgrade() -> None:
    """Create the tables."""
    metadata.create_all(op.get_bind(), checkfirst=False)
    # Beside the revision, for programs that are older than it.
    op.add_column("alembic_version", sa.Column("serves_from", TEXT))


def table(name: str, *parts: SchemaItem, **options: Any) -> None:
    """Add a table."""
    sa.Table(name, metadata, *parts, **options)


def numbered_table(name: str, *parts: SchemaItem) -> None:
    """Add a table whose rows have ids of their own; no id is ever used twice."""
    table(name, sa.Column("id", ROW_ID, primary_key=True), *parts, sqlite_autoincrement=True)


def link(name: str, to: str, *, nullable: bool = False, index: bool = False) -> sa.Column[Any]:
    """Describe a reference to a row of another table."""
    return sa.Column(name, sa.ForeignKey(f"{to}.id"), nullable=nullable, index=index)


def required(
    kind: TypeEngine[Any], *names: str, default: str | None = None, index: bool = False
) -> Iterator[sa.Column[Any]]:
    """Describe columns that always have a value."""
    options: Any = {"nullable": False, "index": index}
    if default is not None:
        options["server_default"] = sa.false() if kind is BOOLEAN else sa.text(default)
    return (sa.Column(name, kind, **options) for name in names)


def optional(kind: TypeEngine[Any], *names: str, index: bool = False) -> Iterator[sa.Column[Any]]:
    """Describe columns that may be null."""
    return (sa.Column(name, kind, index=index) for name in names)


def partial_index(name: str, columns: str, where: str, *, unique: bool = False) -> sa.Index:
    """Describe an index of the rows that meet a condition."""
    only: Any = {"sqlite_where": sa.text(where), "postgresql_where": sa.text(where)}
    return sa.Index(name, *columns.split(", "), unique=unique, **only)


numbered_table(
    "merchant_groups",
    sa.Column("name", TEXT, nullable=False, unique=True),
    *required(TIMESTAMP, "created_at"),
)
numbered_table(
    "merchants",
    sa.Column("code", TEXT, nullable=False, unique=True),
    *required(TEXT, "name"),
    *required(TEXT, "state", default="'active'"),
    *required(TEXT, "state_reason", default="''"),
    *required(TEXT, "currency", default="'GBP'"),
    link("group_id", "merchant_groups", nullable=True, index=True),
    *required(BIGINT, "order_count", "event_count", "file_bytes", default="0"),
    *optional(TEXT, "callback_url", "callback_format"),
    *required(JSON, "callback_secrets", default="'[]'"),
    *optional(JSON, "callback_candidate"),
    *required(BOOLEAN, "callback_is_trusted", default="false"),
    *required(BIGINT, "ledger_count", default="0"),
    *required(TEXT, "ledger_head", default="''"),
    *required(BIGINT, "balance", default="0"),
    *optional(BIGINT, "credit_limit"),
    *required(TEXT, "billing", default="'card'"),
    *required(TEXT, "invoicing", default="'each-order'"),
    *required(TEXT, "customer", "payment_method", default="''"),
    *optional(BIGINT, "requests_per_second", "requests_burst", "requests_in_work"),
    *optional(TEXT, "language"),
    *required(BOOLEAN, "writes_to_recipients", default="false"),
    *optional(TEXT, "recipient_language"),
    *required(TEXT, "recipient_reply_to", default="''"),
    *optional(TIMESTAMP, "low_credit_told_at", "overdue_told_at", "overdue_since"),
    *required(TEXT, "reminders_paused", default="''"),
    *required(BIGINT, "clock_offset", default="0"),
    *optional(TIMESTAMP, "advancing_until"),
    *required(TIMESTAMP, "created_at"),
)
table(
    "shops",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    *required(TEXT, "name", "email", "telephone", "website", "return_address", "packing_slip"),
    *required(TEXT, "time_zone", default="'UTC'"),
    *optional(TEXT, "logo"),
    *optional(INTEGER, "logo_width", "logo_height"),
    *required(TIMESTAMP, "updated_at"),
    partial_index("ix_shops_logo", "logo", "logo IS NOT NULL"),
)
numbered_table(
    "card_setups",
    link("merchant_id", "merchants", index=True),
    sa.Column("key", TEXT, nullable=False, unique=True),
    *required(TEXT, "provider", "state", "customer"),
    *required(TEXT, "reference", default="''"),
    *optional(TEXT, "reason"),
    *required(TIMESTAMP, "expires_at", "created_at"),
)
table(
    "saved_cards",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    *required(TEXT, "provider", "payment_method", "brand", "last_four"),
    *required(INTEGER, "expires_month", "expires_year"),
    *optional(TEXT, "refusal"),
    *required(TIMESTAMP, "saved_at"),
)
table(
    "brand",
    sa.Column("id", INTEGER, primary_key=True, autoincrement=False),
    *required(TEXT, "name", "accent", "sender_name", "sender_email", "reply_to"),
    *required(TEXT, "imprint", "terms"),
    *required(BOOLEAN, "show_labs"),
    *optional(TEXT, "logo"),
    *optional(INTEGER, "logo_width", "logo_height"),
    *required(TIMESTAMP, "updated_at"),
)
table(
    "businesses",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    *required(TEXT, "name", "street", "postal_code", "town", "country", "vat_id"),
    *required(TIMESTAMP, "updated_at"),
)
numbered_table(
    "sellers",
    *required(TEXT, "name", "street", "postal_code", "town", "country", "vat_id"),
    *required(TEXT, "email", "register_number", "bank", "iban", "bic"),
    *required(JSON, "registrations"),
    *required(BOOLEAN, "has_one_stop", "is_gross"),
    *required(TEXT, "rounding"),
    *required(TIMESTAMP, "created_at", "updated_at"),
    *optional(TIMESTAMP, "ended_at"),
)
numbered_table(
    "pictures",
    sa.Column("sha256", TEXT, nullable=False, unique=True),
    *required(TEXT, "md5"),
    *required(BIGINT, "size"),
    *optional(JSON, "facts"),
    *optional(TEXT, "refusal", "original", "proxy"),
    *required(TIMESTAMP, "created_at"),
    *required(TIMESTAMP, "used_at", index=True),
)
table("secrets", sa.Column("name", TEXT, primary_key=True), *required(TEXT, "value"))
table("simulated_charges", sa.Column("key", TEXT, primary_key=True), *required(TEXT, "state"))
numbered_table(
    "api_keys",
    link("merchant_id", "merchants", index=True),
    sa.Column("hash", TEXT, nullable=False, unique=True),
    *required(TEXT, "hint"),
    *required(TEXT, "name", default="''"),
    *required(TEXT, "access", default="'full'"),
    *optional(TEXT, "lab"),
    *required(TIMESTAMP, "created_at"),
    *optional(TIMESTAMP, "expires_at", "replaced_at", "last_used_at"),
)
numbered_table(
    "api_requests",
    link("merchant_id", "merchants"),
    *required(TIMESTAMP, "at", index=True),
    *required(TEXT, "method", "path"),
    *required(INTEGER, "status", "milliseconds"),
    *required(TEXT, "request_id"),
    *optional(BIGINT, "key_id", "order_id"),
    *optional(TEXT, "address", "refusal", "body", "answer"),
    sa.Index(None, "merchant_id", "id"),
    partial_index("ix_api_requests_order", "order_id", "order_id IS NOT NULL"),
)
numbered_table(
    "audit_log",
    *required(TIMESTAMP, "at"),
    link("merchant_id", "merchants", nullable=True),
    *required(TEXT, "realm", "who", "action", "subject"),
    *required(JSON, "details"),
    *required(TEXT, "address", "request_id"),
    sa.Index(None, "merchant_id", "id"),
)
table(
    "downloads",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    sa.Column("url_hash", TEXT, primary_key=True),
    *required(TEXT, "etag", "last_modified"),
    link("picture_id", "pictures", index=True),
)
table(
    "idempotency_keys",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    sa.Column("key", TEXT, primary_key=True),
    *required(TEXT, "fingerprint", "claim"),
    *required(TIMESTAMP, "claimed_until"),
    *optional(INTEGER, "answer_status"),
    *optional(TEXT, "answer_media_type"),
    *optional(BINARY, "answer_body"),
    *optional(BIGINT, "order_id"),
    *required(TIMESTAMP, "created_at", index=True),
    partial_index("ix_idempotency_keys_order", "order_id", "order_id IS NOT NULL"),
)
table(
    "sweeps",
    sa.Column("kind", TEXT, primary_key=True),
    *required(TIMESTAMP, "swept_at"),
    *required(BIGINT, "removed"),
    *required(BIGINT, "total", default="0"),
)
numbered_table(
    "jobs",
    *required(TEXT, "kind", "lane", "state"),
    link("merchant_id", "merchants", nullable=True),
    *optional(BIGINT, "order_id"),
    *required(JSON, "args"),
    *required(TIMESTAMP, "due_at"),
    *required(INTEGER, "attempts", default="0"),
    *required(BIGINT, "fence", default="0"),
    *optional(TEXT, "worker"),
    *optional(TIMESTAMP, "lease_until", "put_back_at"),
    *optional(sa.Float(), "lease_seconds"),
    sa.Column("dedupe_key", TEXT, unique=True),
    *optional(TEXT, "request_id", "trace_parent", "last_error"),
    *required(TIMESTAMP, "created_at"),
    *optional(TIMESTAMP, "finished_at"),
    sa.CheckConstraint(
        "state IN ('scheduled', 'due', 'running', 'done', 'failed', 'cancelled')", name="state"
    ),
    partial_index("ix_jobs_due", "lane, due_at, id", "state = 'due'"),
    partial_index("ix_jobs_failed", "id", "state = 'failed'"),
    partial_index("ix_jobs_finished", "finished_at", "finished_at IS NOT NULL"),
    partial_index("ix_jobs_merchant_scheduled", "merchant_id", "state = 'scheduled'"),
    partial_index("ix_jobs_order", "order_id", "order_id IS NOT NULL"),
    partial_index("ix_jobs_running", "lane", "state = 'running'"),
    partial_index("ix_jobs_scheduled", "due_at", "state = 'scheduled'"),
)
table(
    "verifications",
    sa.Column("what", TEXT, primary_key=True),
    *required(TIMESTAMP, "at"),
    *required(INTEGER, "faults"),
)
table(
    "heartbeats",
    sa.Column("worker", TEXT, primary_key=True),
    *required(TEXT, "host", "version"),
    *required(BIGINT, "process", "finished"),
    *required(TIMESTAMP, "started_at", "beat_at"),
    *required(INTEGER, "running"),
)
numbered_table(
    "orders",
    link("merchant_id", "merchants"),
    *required(BIGINT, "ordinal"),
    *required(TEXT, "status"),
    *optional(BYTE_TEXT, "merchant_order_id"),
    *optional(TEXT, "recipient_name"),
    *required(BYTE_TEXT, "recipient_key", default="''"),
    *optional(TEXT, "address1", "address2", "town_or_city", "state_or_county", "postal_code"),
    *optional(TEXT, "destination_country", "mobile_telephone", "telephone", "email"),
    *optional(BYTE_TEXT, "town_key", "postal_key", "email_key"),
    *required(TEXT, "shipping_method"),
    *required(BOOLEAN, "is_tracked", "needs_plan", default="false"),
    *optional(TEXT, "quality_level", "print_country"),
    *required(TEXT, "payment"),
    sa.Column("payment_token", TEXT, unique=True),
    *required(TEXT, "callback_format", default="'3.0'"),
    *optional(TEXT, "packing_slip_url"),
    *required(BIGINT, "invoice_amount_net", "invoice_tax"),
    *optional(TEXT, "invoice_currency"),
    *required(INTEGER, "image_count", default="0"),
    *optional(TEXT, "currency"),
    *required(BIGINT, "price", "shipping_price", "recipient_tax", "shortfall", default="0"),
    *optional(BIGINT, "tax"),
    *required(BOOLEAN, "tax_included", default="false"),
    *optional(JSON, "tax_terms"),
    *optional(TIMESTAMP, "held_at", "pay_until", "quote_expires_at", "delivered_at", "erased_at"),
    *optional(BIGINT, "payment_request_id", "reprint_of"),
    *optional(JSON, "price_terms", "reasons"),
    *required(BIGINT, "version", default="1"),
    *required(TIMESTAMP, "created_at", "updated_at"),
    sa.UniqueConstraint("merchant_id", "ordinal"),
    sa.Index(None, "merchant_id", "created_at", "ordinal"),
    sa.Index(None, "merchant_id", "status", "ordinal"),
    partial_index("ix_orders_drafts", "created_at", "status = 'NotYetSubmitted'"),
    partial_index("ix_orders_email", "email_key", "email_key IS NOT NULL"),
    partial_index(
        "ix_orders_erasable",
        "created_at",
        "status IN ('Complete', 'Cancelled') AND erased_at IS NULL",
    ),
    partial_index(
        "ix_orders_postcode",
        "postal_key",
        "postal_key IS NOT NULL AND status != 'NotYetSubmitted'",
    ),
    partial_index(
        "ix_orders_recipient", "merchant_id, recipient_key, ordinal", "recipient_key != ''"
    ),
    partial_index(
        "ix_orders_reference",
        "merchant_id, merchant_order_id, ordinal",
        "merchant_order_id IS NOT NULL",
    ),
    partial_index(
        "ix_orders_town",
        "merchant_id, town_key, ordinal",
        "town_key IS NOT NULL AND status != 'NotYetSubmitted'",
    ),
    partial_index(
        "ix_orders_troubled",
        "id",
        "held_at IS NOT NULL OR (reasons IS NOT NULL AND status = 'Submitted')",
    ),
    partial_index(
        "ix_orders_attention",
        "merchant_id, ordinal",
        "status IN ('NotYetSubmitted', 'AwaitingPayment', 'Submitted') "
        "AND (held_at IS NOT NULL OR reasons IS NOT NULL)",
    ),
)
numbered_table(
    "people",
    *required(TEXT, "realm", "email", "role"),
    link("merchant_id", "merchants", nullable=True, index=True),
    *required(TEXT, "password_hash"),
    *optional(TEXT, "totp_secret"),
    *required(BIGINT, "totp_step", "news_seen", "events_seen", default="0"),
    *required(BOOLEAN, "hides_first_steps", default="false"),
    *required(TIMESTAMP, "created_at"),
    sa.UniqueConstraint("realm", "email"),
)
table(
    "sign_in_tries",
    sa.Column("key", TEXT, primary_key=True),
    *required(INTEGER, "tries"),
    *required(TIMESTAMP, "at", index=True),
)
table(
    "recovery_codes",
    sa.Column("hash", TEXT, primary_key=True),
    link("person_id", "people", index=True),
    *required(TIMESTAMP, "created_at"),
    *optional(TIMESTAMP, "used_at"),
)
numbered_table(
    "passkeys",
    link("person_id", "people", index=True),
    sa.Column("credential", TEXT, nullable=False, unique=True),
    *required(BINARY, "public_key"),
    *required(BIGINT, "sign_count"),
    *required(TEXT, "name"),
    *required(TIMESTAMP, "created_at"),
    *optional(TIMESTAMP, "last_used_at"),
)
table(
    "used_challenges",
    sa.Column("hash", TEXT, primary_key=True),
    *required(TIMESTAMP, "expires_at", index=True),
)
table(
    "sent_forms",
    sa.Column("person_id", sa.ForeignKey("people.id"), primary_key=True),
    sa.Column("token", TEXT, primary_key=True),
    *required(TEXT, "fingerprint"),
    *required(TIMESTAMP, "claimed_until"),
    *optional(TEXT, "location", "answer"),
    *optional(TIMESTAMP, "finished_at"),
    *required(TIMESTAMP, "created_at", index=True),
    sa.Index(None, "person_id", "created_at"),
    partial_index("ix_sent_forms_answer", "finished_at", "answer IS NOT NULL"),
)
table(
    "kept_forms",
    sa.Column("hash", TEXT, primary_key=True),
    sa.Column("page", TEXT, primary_key=True),
    link("person_id", "people", index=True),
    *required(TEXT, "content"),
    *required(TIMESTAMP, "expires_at", index=True),
)
numbered_table(
    "images",
    link("order_id", "orders", index=True),
    *required(TEXT, "sku", "status", "sizing"),
    *optional(TEXT, "url", "name"),
    *required(INTEGER, "copies"),
    *optional(BIGINT, "price_to_user"),
    *required(JSON, "attributes"),
    *required(BIGINT, "price", default="0"),
    *optional(TEXT, "expected_md5", "md5", "formats"),
    *optional(INTEGER, "width", "height"),
    *required(INTEGER, "edition", "proof_edition", default="0"),
    link("picture_id", "pictures", nullable=True, index=True),
    *optional(TEXT, "mockup"),
    *optional(JSON, "manifest", "placement"),
    *optional(TEXT, "error_message"),
    *required(TIMESTAMP, "created_at", "updated_at"),
    partial_index("ix_images_proofs", "created_at", "width IS NOT NULL"),
    partial_index("ix_images_pictures", "created_at", "picture_id IS NOT NULL"),
    partial_index("ix_images_failed", "order_id", "status IN ('FileNotFoundAtUrl', 'Invalid')"),
)
table(
    "invitations",
    sa.Column("hash", TEXT, primary_key=True),
    *required(TEXT, "realm", "role", "email"),
    link("merchant_id", "merchants", nullable=True),
    link("person_id", "people", nullable=True),
    *required(TIMESTAMP, "created_at", "expires_at"),
    *optional(TIMESTAMP, "used_at"),
)
numbered_table(
    "issues",
    link("merchant_id", "merchants", index=True),
    link("order_id", "orders", index=True),
    *required(TEXT, "kind", "action", "state"),
    *optional(TEXT, "detail", "action_detail", "resolution"),
    *required(JSON, "image_ids"),
    *optional(BIGINT, "refund"),
    link("reprint_order_id", "orders", nullable=True, index=True),
    *required(TIMESTAMP, "created_at", "updated_at"),
    partial_index("ix_issues_unsettled", "id", "state IN ('Open', 'InProgress')"),
    partial_index("ix_issues_of_merchant", "merchant_id, id", "state IN ('Open', 'InProgress')"),
)
table(
    "ledger_entries",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    sa.Column("number", BIGINT, primary_key=True, autoincrement=False),
    *required(TEXT, "key", "kind"),
    link("order_id", "orders", nullable=True, index=True),
    *required(TEXT, "currency"),
    *required(JSON, "lines"),
    *required(TEXT, "memo"),
    *required(TIMESTAMP, "created_at", index=True),
    *required(BIGINT, "balance"),
    *required(TEXT, "previous", "hash"),
    sa.UniqueConstraint("merchant_id", "key"),
    sa.Index(None, "merchant_id", "created_at", "number"),
)
table(
    "ledger_days",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    sa.Column("day", TEXT, primary_key=True, index=True),
    sa.Column("kind", TEXT, primary_key=True),
    sa.Column("currency", TEXT, primary_key=True),
    *required(BIGINT, "entries", "amount"),
)
table(
    "sales",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    sa.Column("number", BIGINT, primary_key=True, autoincrement=False),
    *required(TEXT, "kind", "day", "currency", "country"),
    *required(JSON, "parts"),
)
table(
    "sales_days",
    sa.Column("day", TEXT, primary_key=True),
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    sa.Column("currency", TEXT, primary_key=True),
    sa.Column("country", TEXT, primary_key=True),
    sa.Column("lab", TEXT, primary_key=True),
    sa.Column("sku", TEXT, primary_key=True),
    *required(BIGINT, "orders", "copies", "net", "tax", "refunded_net", "refunded_tax"),
    *required(BIGINT, "items_cost", "shipping_cost", "credited", "credited_tax", "debited"),
    sa.Index(None, "merchant_id", "day"),
    sqlite_with_rowid=False,
)
numbered_table(
    "invoices",
    *required(TEXT, "series"),
    *required(INTEGER, "year"),
    *required(BIGINT, "sequence"),
    sa.Column("number", TEXT, nullable=False, unique=True),
    *required(TEXT, "kind"),
    link("merchant_id", "merchants"),
    link("corrects_id", "invoices", nullable=True, index=True),
    *required(TEXT, "currency"),
    *required(BIGINT, "net", "tax", "gross"),
    *required(TIMESTAMP, "issued_at"),
    *required(TEXT, "document", "hash"),
    sa.UniqueConstraint("series", "year", "sequence"),
    sa.Index(None, "merchant_id", "id"),
    sa.Index(None, "merchant_id", "year", "id"),
)
table(
    "invoice_counters",
    sa.Column("series", TEXT, primary_key=True),
    sa.Column("year", INTEGER, primary_key=True, autoincrement=False),
    *required(BIGINT, "last"),
    *required(TEXT, "head"),
)
table(
    "invoice_causes",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    sa.Column("entry", BIGINT, primary_key=True, autoincrement=False),
    *required(TEXT, "kind"),
    link("order_id", "orders", index=True),
    *required(BIGINT, "charge", "amount", "tax"),
    *required(TEXT, "draft"),
    *required(TIMESTAMP, "created_at"),
    link("invoice_id", "invoices", nullable=True, index=True),
    partial_index("ix_invoice_causes_waiting", "merchant_id, entry", "invoice_id IS NULL"),
)
numbered_table(
    "approvals",
    link("merchant_id", "merchants"),
    *required(TEXT, "kind"),
    *required(BIGINT, "amount"),
    *required(TEXT, "currency", "memo"),
    *optional(BIGINT, "reverses"),
    *required(TEXT, "state", "asked_by"),
    *required(TIMESTAMP, "asked_at"),
    *required(TEXT, "decided_by"),
    *optional(TIMESTAMP, "decided_at"),
    partial_index("ix_approvals_waiting", "id", "state = 'waiting'"),
)
numbered_table(
    "reminders",
    link("merchant_id", "merchants"),
    *required(TIMESTAMP, "overdue_since"),
    *required(INTEGER, "step"),
    *required(TEXT, "tone"),
    *required(BIGINT, "amount"),
    *required(TEXT, "currency", "due_on"),
    *required(INTEGER, "readers"),
    *required(TIMESTAMP, "sent_at"),
    sa.UniqueConstraint("merchant_id", "overdue_since", "step"),
)
numbered_table(
    "lab_payments",
    *required(TEXT, "lab", "currency", "until"),
    *required(BIGINT, "amount"),
    *required(TEXT, "memo"),
    *required(TIMESTAMP, "created_at"),
)
numbered_table(
    "lab_costs",
    link("shipment_id", "shipments"),
    *required(INTEGER, "number"),
    *required(TEXT, "lab"),
    link("merchant_id", "merchants"),
    link("order_id", "orders", index=True),
    *required(TEXT, "currency", "country"),
    *required(BIGINT, "items_cost", "shipping_cost"),
    *required(JSON, "parts"),
    *required(TEXT, "reason", "day"),
    link("payment_id", "lab_payments", nullable=True, index=True),
    *required(TIMESTAMP, "created_at"),
    sa.UniqueConstraint("shipment_id", "number"),
    sa.Index(None, "merchant_id", "id"),
    partial_index(
        "ix_lab_costs_unpaid",
        "lab, currency, day",
        "payment_id IS NULL",
    ),
)
table(
    "lab_debts",
    sa.Column("lab", TEXT, primary_key=True),
    sa.Column("currency", TEXT, primary_key=True),
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    *required(BIGINT, "costs", "items_cost", "shipping_cost"),
    sqlite_with_rowid=False,
)
table(
    "daily_figures",
    sa.Column("day", TEXT, primary_key=True),
    *required(INTEGER, "orders"),
    *required(JSON, "revenue", "sales"),
    *required(INTEGER, "shipped", "in_time"),
    *optional(sa.Float(), "median_hours"),
    *required(INTEGER, "attempts", "delivered"),
)
table(
    "hourly_figures",
    sa.Column("hour", TEXT, primary_key=True),
    *required(INTEGER, "shipped", "in_time"),
    *required(JSON, "production_times"),
    *required(INTEGER, "attempts", "delivered"),
)
numbered_table(
    "order_events",
    link("order_id", "orders", index=True),
    *required(TEXT, "kind"),
    *required(JSON, "facts"),
    *required(TIMESTAMP, "created_at"),
)
table(
    "merchant_files",
    sa.Column("merchant_id", sa.ForeignKey("merchants.id"), primary_key=True),
    sa.Column("picture_id", sa.ForeignKey("pictures.id"), primary_key=True, index=True),
    *required(BIGINT, "size"),
)
table(
    "packing_slips",
    sa.Column("order_id", sa.ForeignKey("orders.id"), primary_key=True),
    *required(TEXT, "url", "status"),
    *optional(TEXT, "file", "sha256"),
    *optional(INTEGER, "width", "height"),
    *optional(TEXT, "error_message"),
    *required(TIMESTAMP, "updated_at"),
)
numbered_table(
    "payment_requests",
    link("merchant_id", "merchants", index=True),
    link("order_id", "orders", index=True),
    sa.Column("key", TEXT, nullable=False, unique=True),
    *required(TEXT, "payer", "provider", "state"),
    *required(BIGINT, "amount"),
    *required(BIGINT, "from_balance", default="0"),
    *required(TEXT, "currency", "customer", "payment_method"),
    *required(TEXT, "reference", default="''"),
    *optional(TEXT, "url", "reason"),
    *required(BIGINT, "rejected_refunds", default="0"),
    *required(TIMESTAMP, "expires_at", "created_at", "updated_at"),
    partial_index(
        "ix_payment_requests_claiming",
        "merchant_id",
        "state IN ('asked', 'waiting', 'refunding', 'refund-rejected')",
    ),
    partial_index(
        "ix_payment_requests_pending", "id", "state IN ('asked', 'waiting', 'refunding')"
    ),
    partial_index("ix_payment_requests_rejected", "id", "state = 'refund-rejected'"),
    partial_index(
        "uq_payment_requests_paying",
        "order_id",
        "state IN ('asked', 'waiting', 'paid')",
        unique=True,
    ),
)
numbered_table(
    "plans",
    link("order_id", "orders", index=True),
    *required(JSON, "routing", "without"),
    *required(TIMESTAMP, "created_at"),
)
table(
    "sessions",
    sa.Column("hash", TEXT, primary_key=True),
    link("person_id", "people", index=True),
    *required(TIMESTAMP, "created_at", "seen_at", "expires_at", "proved_at"),
    *required(BOOLEAN, "is_strong", default="0"),
    *required(TEXT, "address", "user_agent"),
    sa.Index(None, "expires_at"),
)
numbered_table(
    "shipments",
    link("order_id", "orders", index=True),
    *optional(TEXT, "state"),
    *required(TEXT, "lab", "band", "service", "carrier"),
    *required(BOOLEAN, "is_tracked"),
    *required(BIGINT, "items_cost", "shipping_cost"),
    *required(JSON, "image_ids"),
    *required(INTEGER, "copies"),
    *required(TEXT, "earliest_arrival", "latest_arrival"),
    *optional(TIMESTAMP, "sent_at"),
    *optional(TEXT, "held_because", "reason", "tracking_number", "tracking_url"),
    *optional(TIMESTAMP, "shipped_at", index=True),
    *optional(TIMESTAMP, "delivered_at"),
    *required(TEXT, "lab_token"),
    *required(TIMESTAMP, "created_at", "updated_at"),
    partial_index(
        "ix_shipments_open",
        "lab, copies",
        "state IN ('offered', 'accepted', 'in-production', 'failed')",
    ),
    partial_index("ix_shipments_tracking", "tracking_number", "tracking_number IS NOT NULL"),
)
numbered_table(
    "catalogue_versions",
    *required(TEXT, "title", "made_by"),
    link("based_on", "catalogue_versions", nullable=True),
    *required(TEXT, "fingerprint"),
    *required(TIMESTAMP, "created_at"),
    *optional(TIMESTAMP, "publish_at"),
    *required(TEXT, "published_by", default="''"),
    partial_index("ix_catalogue_versions_publish_at", "publish_at", "publish_at IS NOT NULL"),
)
table(
    "catalogue_files",
    sa.Column("version_id", sa.ForeignKey("catalogue_versions.id"), primary_key=True),
    sa.Column("name", TEXT, primary_key=True),
    *required(TEXT, "content"),
)
table(
    "catalogue_pictures",
    sa.Column("version_id", sa.ForeignKey("catalogue_versions.id"), primary_key=True),
    sa.Column("hash", TEXT, primary_key=True, index=True),
)
numbered_table(
    "product_pictures",
    sa.Column("hash", TEXT, nullable=False, unique=True),
    *required(TEXT, "file"),
    *required(INTEGER, "size"),
    *required(TIMESTAMP, "created_at"),
)
numbered_table(
    "price_lists",
    *required(TEXT, "name"),
    *required(BIGINT, "percent_off", default="0"),
    *required(JSON, "lines", default="'[]'"),
    link("merchant_id", "merchants", nullable=True, index=True),
    link("group_id", "merchant_groups", nullable=True, index=True),
    *required(TIMESTAMP, "valid_from"),
    *optional(TIMESTAMP, "valid_until"),
    *required(BOOLEAN, "is_suspended", default="false"),
    *required(BIGINT, "revision"),
    *required(TIMESTAMP, "created_at"),
)
table(
    "price_list_changes",
    sa.Column("revision", BIGINT, primary_key=True, autoincrement=False),
    link("list_id", "price_lists"),
    *required(TEXT, "change", "who"),
    *required(JSON, "content"),
    *required(TIMESTAMP, "created_at"),
    sa.Index(None, "list_id", "revision"),
)
table("price_book", sa.Column("name", TEXT, primary_key=True), *required(BIGINT, "revision"))
numbered_table(
    "erasures",
    link("merchant_id", "merchants"),
    link("order_id", "orders", index=True),
    *required(TEXT, "state", "asked_by", "done_by"),
    *optional(JSON, "removed", "left_elsewhere"),
    *required(TIMESTAMP, "created_at"),
    *optional(TIMESTAMP, "erased_at", "finished_at"),
    partial_index("uq_erasures_unfinished", "order_id", "finished_at IS NULL", unique=True),
)
numbered_table(
    "callbacks",
    link("merchant_id", "merchants"),
    *optional(BIGINT, "number"),
    link("order_id", "orders", nullable=True),
    *optional(INTEGER, "sequence"),
    link("event_id", "order_events", nullable=True),
    *required(TEXT, "state"),
    *required(INTEGER, "round", default="1"),
    *required(INTEGER, "failures", "attempts", default="0"),
    *required(BOOLEAN, "is_asked_for", default="false"),
    *optional(TEXT, "trace_parent"),
    *optional(TIMESTAMP, "next_at", "delivered_at"),
    *required(TIMESTAMP, "created_at"),
    sa.UniqueConstraint("merchant_id", "number"),
    sa.UniqueConstraint("order_id", "sequence"),
    partial_index("ix_callbacks_given_up", "merchant_id, number", "state = 'given-up'"),
)
numbered_table(
    "issue_photos",
    link("issue_id", "issues", index=True),
    *required(TEXT, "file"),
    *required(INTEGER, "width", "height"),
    *required(TIMESTAMP, "created_at"),
)
table(
    "issue_remarks",
    sa.Column("issue_id", sa.ForeignKey("issues.id"), primary_key=True),
    sa.Column("number", INTEGER, primary_key=True, autoincrement=False),
    *required(TIMESTAMP, "at"),
    *required(TEXT, "author"),
    *optional(TEXT, "was", "state", "comment"),
)
table(
    "callback_attempts",
    sa.Column("callback_id", sa.ForeignKey("callbacks.id"), primary_key=True),
    sa.Column("number", INTEGER, primary_key=True, autoincrement=False),
    *required(TIMESTAMP, "at", index=True),
    *required(TEXT, "url"),
    *optional(INTEGER, "status"),
    *required(INTEGER, "milliseconds"),
    *required(TEXT, "answer"),
    *optional(TEXT, "error"),
)
numbered_table(
    "lots",
    link("merchant_id", "merchants"),
    *required(TEXT, "kind", "state", "key", "name", "who"),
    *required(BOOLEAN, "submits", "prints_blurred"),
    *required(JSON, "heads", "totals"),
    *required(TIMESTAMP, "created_at", index=True),
    *optional(TIMESTAMP, "finished_at"),
    sa.UniqueConstraint("merchant_id", "key"),
)
table(
    "lot_lines",
    sa.Column("lot_id", sa.ForeignKey("lots.id"), primary_key=True),
    sa.Column("number", INTEGER, primary_key=True),
    *required(TEXT, "state"),
    *optional(BYTE_TEXT, "reference"),
    *required(JSON, "rows", "problems"),
    *optional(BIGINT, "order_id", "payment_id"),
    *optional(JSON, "content", "cells"),
    partial_index("ix_lot_lines_cells", "reference", "cells IS NOT NULL"),
)
numbered_table(
    "mails",
    sa.Column("message_id", BYTE_TEXT, nullable=False, unique=True),
    *required(TEXT, "kind", "state"),
    *required(BYTE_TEXT, "email"),
    *required(TEXT, "name", "language"),
    *required(JSON, "facts"),
    *optional(TEXT, "secret"),
    link("merchant_id", "merchants", nullable=True),
    *optional(BIGINT, "person_id", "order_id"),
    sa.Column("cause", TEXT, unique=True),
    *optional(TEXT, "error"),
    *required(TIMESTAMP, "created_at", index=True),
    *required(TIMESTAMP, "send_before"),
    *optional(TIMESTAMP, "sent_at"),
    sa.Index(None, "merchant_id", "id"),
    sa.Index(None, "email", "id"),
    partial_index("ix_mails_order", "order_id", "order_id IS NOT NULL"),
    partial_index("ix_mails_waiting", "send_before", "state = 'waiting'"),
    partial_index("ix_mails_failed", "id", "state = 'failed'"),
    partial_index("ix_mails_secret", "message_id", "secret IS NOT NULL"),
)
numbered_table(
    "news",
    link("merchant_id", "merchants"),
    *required(TEXT, "kind"),
    *optional(BIGINT, "order_id"),
    *required(BIGINT, "subject"),
    *required(INTEGER, "count"),
    *required(TIMESTAMP, "at"),
    *required(TIMESTAMP, "created_at", index=True),
    sa.Index(None, "merchant_id", "id"),
)
numbered_table(
    "notices",
    link("merchant_id", "merchants", nullable=True),
    *required(TEXT, "kind"),
    *required(JSON, "facts"),
    sa.Index(None, "merchant_id", "kind", "id"),
)
table(
    "mail_choices",
    sa.Column("person_id", sa.ForeignKey("people.id"), primary_key=True),
    sa.Column("kind", TEXT, primary_key=True),
    *required(BOOLEAN, "is_wanted"),
)
table(
    "mail_refusals",
    sa.Column("hash", TEXT, primary_key=True),
    *required(TIMESTAMP, "created_at"),
)
