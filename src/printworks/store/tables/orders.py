"""Orders and their events."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    false,
    text,
)

from printworks.catalogue.products import Currency, QualityLevel
from printworks.rules.orders import OrderStatus, Payment, ShippingMethod
from printworks.store.engine.columns import ByteText, EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

orders = Table(
    "orders",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("merchant_id", ForeignKey("merchants.id"), nullable=False),
    # The merchant's first, second, third ... order, without gaps: it is the total, the
    # sort order and the page position at once, so that a list costs the same at any depth.
    Column("ordinal", BigInteger, nullable=False),
    Column("status", EnumText(OrderStatus), nullable=False),
    Column("merchant_order_id", ByteText),
    Column("recipient_name", Text),
    # The recipient's name in the form in which it is searched: see `rules/search.py`.
    Column("recipient_key", ByteText, nullable=False, server_default=text("''")),
    Column("address1", Text),
    Column("address2", Text),
    Column("town_or_city", Text),
    Column("state_or_county", Text),
    Column("postal_code", Text),
    # The town, the postcode and, below, the email address in the forms in which they are searched.
    Column("town_key", ByteText),
    Column("postal_key", ByteText),
    Column("destination_country", Text),
    Column("mobile_telephone", Text),
    Column("telephone", Text),
    Column("email", Text),
    Column("email_key", ByteText),
    Column("shipping_method", EnumText(ShippingMethod), nullable=False),
    # Whether the merchant wants a service with tracking wherever there is one.
    Column("is_tracked", Boolean, nullable=False, server_default=false()),
    # The range from which products are chosen, and where they should be printed; null if the
    # API version that created the order has no such choice.
    Column("quality_level", EnumText(QualityLevel)),
    Column("print_country", Text),
    Column("payment", EnumText(Payment), nullable=False),
    # The unguessable part of the URL at which the recipient pays.
    Column("payment_token", Text, unique=True),
    # The format of its callbacks, unless the merchant chose one: that of the API version that
    # created the order. Nothing but the writer of callbacks reads it.
    Column("callback_format", Text, nullable=False, server_default=text("'3.0'")),
    Column("packing_slip_url", Text),
    Column("invoice_amount_net", BigInteger, nullable=False),
    Column("invoice_tax", BigInteger, nullable=False),
    Column("invoice_currency", Text),
    # Says whether there are images to read.
    Column("image_count", Integer, nullable=False, server_default=text("0")),
    # What the merchant pays, including shipping: calculated when the order last changed, charged
    # at submission. The currency is null until there is something to pay for.
    Column("currency", EnumText(Currency)),
    Column("price", BigInteger, nullable=False, server_default=text("0")),
    Column("shipping_price", BigInteger, nullable=False, server_default=text("0")),
    # How much tax the merchant pays, and whether the price includes it; null where no seller
    # collects any. The terms are those of `rules/tax_terms.py`: frozen once it is submitted.
    Column("tax", BigInteger),
    Column("tax_included", Boolean, nullable=False, server_default=false()),
    Column("tax_terms", Json),
    # How much tax the recipient pays at the checkout.
    Column("recipient_tax", BigInteger, nullable=False, server_default=text("0")),
    # While its recipient may pay: how much less that is than the order costs. The merchant will owe it.
    Column("shortfall", BigInteger, nullable=False, server_default=text("0")),
    # How its prices came about; null if they are those of the catalogue.
    Column("price_terms", Json),
    # Until when an open order keeps its price, in the merchant's time; null until there is one.
    Column("quote_expires_at", Timestamp),
    # While this is set, nothing is sent to a lab.
    Column("held_at", Timestamp),
    # While this is set, the order is being paid for and cannot be changed.
    Column("payment_request_id", BigInteger),
    # Until when the recipient may pay; null unless the recipient pays.
    Column("pay_until", Timestamp),
    # Why it does not go ahead; null if nothing stands in its way.
    Column("reasons", Json),
    # While this is set, the planned shipments are those of an earlier version: they are planned
    # again when somebody looks.
    Column("needs_plan", Boolean, nullable=False, server_default=false()),
    # Increased with every change of the order, its images or its shipments: whoever has seen
    # this version has seen all of it.
    Column("version", BigInteger, nullable=False, server_default=text("1")),
    # The order that it prints again, free of charge; null for all others.
    Column("reprint_of", BigInteger),
    # When the last of its shipments was delivered, if carriers say so.
    Column("delivered_at", Timestamp),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    # When the recipient was erased, for the sweep that does so after some time.
    Column("erased_at", Timestamp),
    UniqueConstraint("merchant_id", "ordinal"),
    # Lists of one status: the few open orders are found among any number of old ones.
    Index(None, "merchant_id", "status", "ordinal"),
    # Lists of some days.
    Index(None, "merchant_id", "created_at", "ordinal"),
    sqlite_autoincrement=True,
)

# A merchant's own reference, which is optional and need not be unique.
partial_index(
    "ix_orders_reference",
    orders.c.merchant_id,
    orders.c.merchant_order_id,
    orders.c.ordinal,
    where="merchant_order_id IS NOT NULL",
)
# Recipients whose surname begins with these letters.
partial_index(
    "ix_orders_recipient",
    orders.c.merchant_id,
    orders.c.recipient_key,
    orders.c.ordinal,
    where="recipient_key != ''",
)
# Where a merchant's orders went, by the beginning of the town. Only what was submitted, so that
# creating an order does not have to write it; drafts are found among the newest orders.
partial_index(
    "ix_orders_town",
    orders.c.merchant_id,
    orders.c.town_key,
    orders.c.ordinal,
    where="town_key IS NOT NULL AND status != 'NotYetSubmitted'",
)
# What operators have to resolve: orders that are held or stuck.
partial_index(
    "ix_orders_troubled",
    orders.c.id,
    where="held_at IS NOT NULL OR (reasons IS NOT NULL AND status = 'Submitted')",
)

# What the merchant should look at: open orders that are held, or in whose way something stands.
partial_index(
    "ix_orders_attention",
    orders.c.merchant_id,
    orders.c.ordinal,
    where=(
        "status IN ('NotYetSubmitted', 'AwaitingPayment', 'Submitted') "
        "AND (held_at IS NOT NULL OR reasons IS NOT NULL)"
    ),
)

# Where an order of any merchant went, for operators. Only what was submitted: a draft changes often,
# and there are few.
partial_index(
    "ix_orders_postcode",
    orders.c.postal_key,
    where="postal_key IS NOT NULL AND status != 'NotYetSubmitted'",
)
# The orders of a person of any merchant.
partial_index("ix_orders_email", orders.c.email_key, where="email_key IS NOT NULL")

# Orders that have ended, with the recipients that the sweep of old ones erases. Not by the last
# change, which every image that is added would have to update.
partial_index(
    "ix_orders_erasable",
    orders.c.created_at,
    where="status IN ('Complete', 'Cancelled') AND erased_at IS NULL",
)

# Orders that were never submitted, for the sweep that cancels old ones.
partial_index("ix_orders_drafts", orders.c.created_at, where="status = 'NotYetSubmitted'")

order_events = Table(
    "order_events",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    # What was true when it happened, for callbacks that are written later.
    Column("facts", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)
