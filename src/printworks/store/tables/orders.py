"""Orders and what happened to them."""

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
from printworks.store.tables.base import metadata

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
    # The recipient's name for whoever looks for it: see `rules/search.py`.
    Column("recipient_key", ByteText, nullable=False, server_default=text("''")),
    Column("address1", Text),
    Column("address2", Text),
    Column("town_or_city", Text),
    Column("state_or_county", Text),
    Column("postal_code", Text),
    Column("destination_country", Text),
    Column("mobile_telephone", Text),
    Column("telephone", Text),
    Column("email", Text),
    Column("shipping_method", EnumText(ShippingMethod), nullable=False),
    # Whether the merchant wants a service with tracking wherever there is one.
    Column("is_tracked", Boolean, nullable=False, server_default=false()),
    # The range from which products are chosen, and where they should be printed; null if
    # whoever made the order was not asked.
    Column("quality_level", EnumText(QualityLevel)),
    Column("print_country", Text),
    Column("payment", EnumText(Payment), nullable=False),
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
    Column("currency", EnumText(Currency)),
    Column("price", BigInteger, nullable=False, server_default=text("0")),
    Column("shipping_price", BigInteger, nullable=False, server_default=text("0")),
    # While this is set, nothing is sent to a lab.
    Column("held_at", Timestamp),
    # While this is set, the order is being paid for, and nobody may change it.
    Column("payment_request_id", BigInteger),
    # Until when the recipient may pay; null unless the recipient is asked to.
    Column("pay_until", Timestamp),
    Column("error_message", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    UniqueConstraint("merchant_id", "ordinal"),
    # Lists of one status: the few that are open are found below any number of old ones.
    Index(None, "merchant_id", "status", "ordinal"),
    # Lists of some days.
    Index(None, "merchant_id", "created_at"),
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
# Everybody whose surname begins with these letters.
Index(
    "ix_orders_recipient",
    orders.c.merchant_id,
    orders.c.recipient_key,
    orders.c.ordinal,
    sqlite_where=orders.c.recipient_key != "",
    postgresql_where=orders.c.recipient_key != "",
)
# What an operator has to look into: what is held, and what cannot go on.
_is_troubled = text("held_at IS NOT NULL OR (error_message IS NOT NULL AND status = 'Submitted')")
Index(
    "ix_orders_troubled",
    orders.c.id,
    sqlite_where=_is_troubled,
    postgresql_where=_is_troubled,
)

order_events = Table(
    "order_events",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    # What was true at that moment: whoever tells of the event later reads it here.
    Column("facts", Json, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)
