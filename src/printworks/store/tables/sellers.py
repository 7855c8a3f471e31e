"""Who sells, and which companies buy."""

from sqlalchemy import Boolean, Column, ForeignKey, Table, Text

from printworks.rules.taxes import TaxRounding
from printworks.store.engine.columns import EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata

# The seller is the newest row that has not ended; without one no tax is collected.
sellers = Table(
    "sellers",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("name", Text, nullable=False),
    Column("street", Text, nullable=False),
    Column("postal_code", Text, nullable=False),
    Column("town", Text, nullable=False),
    Column("country", Text, nullable=False),
    Column("vat_id", Text, nullable=False),
    Column("email", Text, nullable=False),
    Column("register_number", Text, nullable=False),
    Column("bank", Text, nullable=False),
    Column("iban", Text, nullable=False),
    Column("bic", Text, nullable=False),
    # By the code of a country: the VAT ID there.
    Column("registrations", Json, nullable=False),
    Column("has_one_stop", Boolean, nullable=False),
    Column("is_gross", Boolean, nullable=False),
    Column("rounding", EnumText(TaxRounding), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("ended_at", Timestamp),
    sqlite_autoincrement=True,
)

# A merchant who has said nothing has no row, and is taxed as a consumer.
businesses = Table(
    "businesses",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("name", Text, nullable=False),
    Column("street", Text, nullable=False),
    Column("postal_code", Text, nullable=False),
    Column("town", Text, nullable=False),
    Column("country", Text, nullable=False),
    Column("vat_id", Text, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
)
