"""Everything that is remembered: one table after the other, with the reason for each index."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from printworks.catalogue.products import Currency, QualityLevel
from printworks.catalogue.services import Carrier
from printworks.rules.events import CallbackState
from printworks.rules.images import AcceptedFiles, ImageStatus
from printworks.rules.issues import Author, IssueAction, IssueKind, IssueState, Resolution
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import OrderStatus, Payment, ShippingMethod
from printworks.rules.payments import Billing, Payer, PaymentState
from printworks.rules.production import LabState
from printworks.rules.sizing import Sizing
from printworks.store.columns import Choice, Duration, Json, Moment, RowId

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

merchants = Table(
    "merchants",
    metadata,
    Column("id", RowId, primary_key=True),
    # What the merchant sends as its id: not guessable, and says nothing about the others.
    Column("code", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    # What the merchant is charged in.
    Column("currency", Choice(Currency), nullable=False, server_default=text("'GBP'")),
    # How many orders the merchant has ever made; the newest order has this ordinal.
    Column("order_count", BigInteger, nullable=False, server_default=text("0")),
    # How many events the merchant was ever told of, or would have been with an address.
    Column("event_count", BigInteger, nullable=False, server_default=text("0")),
    # Where the merchant is told of events, and in which words; null is in those of the version
    # that made the order.
    Column("callback_url", Text),
    Column("callback_format", Text),
    # With what callbacks are signed, newest first: at most two, the older one with its end.
    Column("callback_secrets", Json, nullable=False, server_default=text("'[]'")),
    # What the ledger comes to: entries, the hash of the last one, and what the merchant owes.
    Column("ledger_count", BigInteger, nullable=False, server_default=text("0")),
    Column("ledger_head", Text, nullable=False, server_default=text("''")),
    Column("balance", BigInteger, nullable=False, server_default=text("0")),
    # The most that the merchant may owe, in minor units; null is without a limit.
    Column("credit_limit", BigInteger),
    Column("billing", Choice(Billing), nullable=False, server_default=text("'card'")),
    # Who the merchant is to the payment provider, and with which card it pays.
    Column("customer", Text, nullable=False, server_default=text("''")),
    Column("payment_method", Text, nullable=False, server_default=text("''")),
    # Sandbox only: how far this merchant's clock is ahead of the real one.
    Column("clock_offset", Duration, nullable=False, server_default=text("0")),
    # Until then somebody moves that clock, and runs the merchant's jobs in its own order.
    Column("advancing_until", Moment),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    # SHA-256 of a key with 256 random bits: nothing to guess, so nothing slower is needed.
    Column("hash", Text, nullable=False, unique=True),
    Column("hint", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    sqlite_autoincrement=True,
)

orders = Table(
    "orders",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    # The merchant's first, second, third ... order, without gaps: it is the total, the
    # sort order and the page position at once, so that a list costs the same at any depth.
    Column("ordinal", BigInteger, nullable=False),
    Column("status", Choice(OrderStatus), nullable=False),
    Column("merchant_order_id", Text),
    Column("recipient_name", Text),
    Column("address1", Text),
    Column("address2", Text),
    Column("town_or_city", Text),
    Column("state_or_county", Text),
    Column("postal_code", Text),
    Column("destination_country", Text),
    Column("mobile_telephone", Text),
    Column("telephone", Text),
    Column("email", Text),
    Column("shipping_method", Choice(ShippingMethod), nullable=False),
    # Whether the merchant wants a service with tracking wherever there is one.
    Column("is_tracked", Boolean, nullable=False, server_default=false()),
    # The range from which products are chosen, and where they should be printed; null if
    # whoever made the order was not asked.
    Column("quality_level", Choice(QualityLevel)),
    Column("print_country", Text),
    Column("payment", Choice(Payment), nullable=False),
    # The unguessable part of the address at which the recipient pays.
    Column("payment_token", Text, unique=True),
    # In which words its callbacks are written, unless the merchant chose others: a mark of who
    # made the order, that nothing but the writer of callbacks reads.
    Column("callback_format", Text, nullable=False, server_default=text("'3.0'")),
    Column("packing_slip_url", Text),
    Column("invoice_amount_net", BigInteger, nullable=False),
    Column("invoice_tax", BigInteger, nullable=False),
    Column("invoice_currency", Text),
    # Tells whoever shows the order whether there are images to look for.
    Column("image_count", Integer, nullable=False, server_default=text("0")),
    # What the merchant pays, shipping included: quoted when the order last changed, and charged
    # at submission. The currency is null until there is something to pay for.
    Column("currency", Choice(Currency)),
    Column("price", BigInteger, nullable=False, server_default=text("0")),
    Column("shipping_price", BigInteger, nullable=False, server_default=text("0")),
    # While this is set, nothing is sent to a lab.
    Column("held_at", Moment),
    # While this is set, the order is being paid for, and nobody may change it.
    Column("payment_request_id", BigInteger),
    # Until when the recipient may pay; null unless the recipient is asked to.
    Column("pay_until", Moment),
    Column("error_message", Text),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    UniqueConstraint("merchant_id", "ordinal"),
    # Lists of one status: the few that are open are found below any number of old ones.
    Index(None, "merchant_id", "status", "ordinal"),
    sqlite_autoincrement=True,
)
# A merchant's own reference, which many do not use, and nothing keeps from coming twice.
Index(
    "ix_orders_reference",
    orders.c.merchant_id,
    orders.c.merchant_order_id,
    orders.c.ordinal,
    sqlite_where=orders.c.merchant_order_id.is_not(None),
    postgresql_where=orders.c.merchant_order_id.is_not(None),
)

order_events = Table(
    "order_events",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    # What was true at that moment: whoever tells of the event later reads it here.
    Column("facts", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

# What was received, once for each content, whoever sent it and however often.
pictures = Table(
    "pictures",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("sha256", Text, nullable=False, unique=True),
    Column("md5", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    # What it is; null when it is nothing that can be printed, and `refusal` says why not.
    Column("facts", Json),
    Column("refusal", Text),
    # Where the file is kept, and the smaller one from which proofs are drawn.
    Column("original", Text),
    Column("proxy", Text),
    Column("created_at", Moment, nullable=False),
    # For the sweep that forgets old pictures.
    Column("used_at", Moment, nullable=False, index=True),
    sqlite_autoincrement=True,
)

images = Table(
    "images",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("sku", Text, nullable=False),
    Column("url", Text),
    Column("status", Choice(ImageStatus), nullable=False),
    Column("copies", Integer, nullable=False),
    Column("sizing", Choice(Sizing), nullable=False),
    Column("price_to_user", BigInteger),
    Column("attributes", Json, nullable=False),
    # What one copy costs the merchant, as quoted.
    Column("price", BigInteger, nullable=False, server_default=text("0")),
    # What the merchant said that it would be, then what it is.
    Column("expected_md5", Text),
    Column("md5", Text),
    # What kinds of files it may be; null is every kind that can be printed.
    Column("formats", Choice(AcceptedFiles)),
    # As a person sees it. Kept here too, since the picture is forgotten before the order is.
    Column("width", Integer),
    Column("height", Integer),
    # Null until it is received, and again once the original has been removed.
    Column("picture_id", ForeignKey("pictures.id"), index=True),
    # How the print file was made; null until there is one.
    Column("manifest", Json),
    Column("error_message", Text),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

# What one lab prints and sends in one package: planned while the order is open, fixed and
# offered to the lab at submission.
shipments = Table(
    "shipments",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    # Null while it is only planned.
    Column("state", Choice(LabState)),
    Column("lab", Text, nullable=False),
    Column("band", Text, nullable=False),
    Column("service", Text, nullable=False),
    Column("carrier", Choice(Carrier), nullable=False),
    Column("is_tracked", Boolean, nullable=False),
    Column("price", BigInteger, nullable=False),
    Column("image_ids", Json, nullable=False),
    Column("copies", Integer, nullable=False),
    # Days, as ISO 8601 writes them.
    Column("earliest_arrival", Text, nullable=False),
    Column("latest_arrival", Text, nullable=False),
    # When the lab got it, and why it must wait although it has.
    Column("sent_at", Moment),
    Column("held_because", Text),
    # Why the lab did not make it.
    Column("reason", Text),
    Column("tracking_number", Text),
    Column("tracking_url", Text),
    Column("shipped_at", Moment),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)
_is_open = text("state IN ('offered', 'accepted', 'in-production', 'failed')")
# What labs still have before them, and what an operator has to decide about.
Index(
    "ix_shipments_open",
    shipments.c.lab,
    shipments.c.copies,
    sqlite_where=_is_open,
    postgresql_where=_is_open,
)

# Why the labs of an order were chosen, and the others not; one more for each time that a lab
# rejected a part of it.
plans = Table(
    "plans",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("routing", Json, nullable=False),
    # Labs that have rejected it.
    Column("without", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)

# What a merchant's address held when it was last asked, so that it can be asked whether that
# is still so.
downloads = Table(
    "downloads",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    # SHA-256: an address may be longer than an index allows.
    Column("url_hash", Text, primary_key=True),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("picture_id", ForeignKey("pictures.id"), nullable=False, index=True),
)

packing_slips = Table(
    "packing_slips",
    metadata,
    Column("order_id", ForeignKey("orders.id"), primary_key=True),
    Column("url", Text, nullable=False),
    Column("status", Choice(ImageStatus), nullable=False),
    Column("file", Text),
    Column("sha256", Text),
    Column("width", Integer),
    Column("height", Integer),
    Column("error_message", Text),
    Column("updated_at", Moment, nullable=False),
)

# What the processes of one deployment share and nobody else may know.
secrets = Table(
    "secrets",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

# Money that somebody is asked for; written down before anybody asks.
payment_requests = Table(
    "payment_requests",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    # By which the provider knows it, and the address of our page about it: not guessable.
    Column("key", Text, nullable=False, unique=True),
    Column("payer", Choice(Payer), nullable=False),
    Column("provider", Text, nullable=False),
    Column("state", Choice(PaymentState), nullable=False),
    Column("amount", BigInteger, nullable=False),
    Column("currency", Choice(Currency), nullable=False),
    # Who pays, and with what, in the provider's words, as it was when it was first asked.
    Column("customer", Text, nullable=False),
    Column("payment_method", Text, nullable=False),
    # What the provider calls it, and where the payer authorises it.
    Column("reference", Text, nullable=False, server_default=text("''")),
    Column("url", Text),
    # Why nothing was paid, as a sentence.
    Column("reason", Text),
    # Until when the payer may authorise it.
    Column("expires_at", Moment, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)
_takes_money = text("state IN ('asked', 'waiting', 'paid')")
# Whatever goes wrong elsewhere, an order is not paid for twice.
Index(
    "uq_payment_requests_paying",
    payment_requests.c.order_id,
    unique=True,
    sqlite_where=_takes_money,
    postgresql_where=_takes_money,
)

# What the sandbox's own bank remembers of each charge.
simulated_charges = Table(
    "simulated_charges",
    metadata,
    Column("key", Text, primary_key=True),
    Column("state", Text, nullable=False),
)

# Money that moved, one entry after the other for each merchant. Nothing here is ever changed.
ledger_entries = Table(
    "ledger_entries",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("key", Text, nullable=False),
    Column("kind", Choice(EntryKind), nullable=False),
    Column("order_id", ForeignKey("orders.id"), index=True),
    Column("currency", Text, nullable=False),
    Column("lines", Json, nullable=False),
    Column("memo", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("merchant_id", "key"),
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    # Until then the first request may still be running; afterwards, without an answer,
    # its process died before it did anything, and the next request takes its place.
    Column("claimed_until", Moment, nullable=False),
    Column("claim", Text, nullable=False),
    Column("answer_status", Integer),
    Column("answer_media_type", Text),
    Column("answer_body", LargeBinary),
    # For the sweep that forgets old keys.
    Column("created_at", Moment, nullable=False, index=True),
)

# One row for each event that merchants are told of, with an address or without: together they
# are the merchant's feed, and what is told again later.
callbacks = Table(
    "callbacks",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    # The merchant's first, second, third ... event, without gaps; null if it is only a test.
    Column("number", BigInteger),
    Column("order_id", ForeignKey("orders.id")),
    # The order's first, second, third ... event, without gaps.
    Column("sequence", Integer),
    Column("event_id", ForeignKey("order_events.id")),
    Column("state", Choice(CallbackState), nullable=False),
    # Grows when somebody asks for it again: jobs of an earlier round have nothing to do any more.
    Column("round", Integer, nullable=False, server_default=text("1")),
    # How often it failed in this round, and how often it was sent in all.
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # In the merchant's time, as everything here.
    Column("next_at", Moment),
    Column("delivered_at", Moment),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("merchant_id", "number"),
    UniqueConstraint("order_id", "sequence"),
    sqlite_autoincrement=True,
)
# What somebody may want to look into, and send again.
Index(
    "ix_callbacks_given_up",
    callbacks.c.merchant_id,
    callbacks.c.number,
    sqlite_where=text("state = 'given-up'"),
    postgresql_where=text("state = 'given-up'"),
)

callback_attempts = Table(
    "callback_attempts",
    metadata,
    Column("callback_id", ForeignKey("callbacks.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    # For the sweep that forgets old attempts.
    Column("at", Moment, nullable=False, index=True),
    Column("url", Text, nullable=False),
    # What the receiver said; null if no answer came, and `error` says why.
    Column("status", Integer),
    Column("milliseconds", Integer, nullable=False),
    Column("answer", Text, nullable=False),
    Column("error", Text),
)

# Complaints about orders.
issues = Table(
    "issues",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False, index=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("kind", Choice(IssueKind), nullable=False),
    Column("detail", Text),
    # What the merchant wants.
    Column("action", Choice(IssueAction), nullable=False),
    Column("action_detail", Text),
    # The images that it is about; none is all of them.
    Column("image_ids", Json, nullable=False),
    Column("state", Choice(IssueState), nullable=False),
    # What the merchant got: money back, in minor units, or another order.
    Column("resolution", Choice(Resolution)),
    Column("refund", BigInteger),
    Column("reprint_order_id", ForeignKey("orders.id"), index=True),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    sqlite_autoincrement=True,
)
_is_unsettled = text("state IN ('Open', 'InProgress')")
# What an operator has to look into, the oldest first.
Index(
    "ix_issues_unsettled",
    issues.c.id,
    sqlite_where=_is_unsettled,
    postgresql_where=_is_unsettled,
)

# What was said and done about an issue, one after the other.
issue_remarks = Table(
    "issue_remarks",
    metadata,
    Column("issue_id", ForeignKey("issues.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Moment, nullable=False),
    Column("author", Choice(Author), nullable=False),
    # Where the issue went from and to; both are null if somebody only said something.
    Column("was", Choice(IssueState)),
    Column("state", Choice(IssueState)),
    Column("comment", Text),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("merchant_id", ForeignKey("merchants.id")),
    # Kind and merchant: what waits in one lane shares one limit in flight.
    Column("lane", Text, nullable=False),
    Column("args", Json, nullable=False),
    Column("state", Text, nullable=False),
    # In real time, also for a merchant whose clock is ahead.
    Column("due_at", Moment, nullable=False),
    # How often it was claimed, counted before it runs: a job that kills its process stops too.
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # Grows with every claim and never shrinks: only the latest claim may report.
    Column("fence", BigInteger, nullable=False, server_default=text("0")),
    Column("worker", Text),
    Column("lease_until", Moment),
    Column("dedupe_key", Text, unique=True),
    # The request that caused it, for whoever reads the logs.
    Column("request_id", Text),
    Column("last_error", Text),
    Column("created_at", Moment, nullable=False),
    Column("finished_at", Moment),
    CheckConstraint(
        "state IN ('scheduled', 'due', 'running', 'done', 'failed', 'cancelled')", name="state"
    ),
    sqlite_autoincrement=True,
)

# Each state has an index of its own and no more: 100,000 sleepers cost a claim nothing.
Index(
    "ix_jobs_scheduled",
    jobs.c.due_at,
    sqlite_where=jobs.c.state == "scheduled",
    postgresql_where=jobs.c.state == "scheduled",
)
Index(
    "ix_jobs_due",
    jobs.c.lane,
    jobs.c.due_at,
    jobs.c.id,
    sqlite_where=jobs.c.state == "due",
    postgresql_where=jobs.c.state == "due",
)
Index(
    "ix_jobs_running",
    jobs.c.lane,
    sqlite_where=jobs.c.state == "running",
    postgresql_where=jobs.c.state == "running",
)
Index(
    "ix_jobs_finished",
    jobs.c.finished_at,
    sqlite_where=jobs.c.finished_at.is_not(None),
    postgresql_where=jobs.c.finished_at.is_not(None),
)
# A merchant's sleepers, for the sandbox clock that brings them forward.
Index(
    "ix_jobs_merchant_scheduled",
    jobs.c.merchant_id,
    sqlite_where=jobs.c.state == "scheduled",
    postgresql_where=jobs.c.state == "scheduled",
)
