"""Pictures, what they are for, and where they came from."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Table, Text, text

from printworks.rules.images import AcceptedFiles, ImageStatus
from printworks.rules.sizing import Sizing
from printworks.store.engine.columns import EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata

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
    Column("created_at", Timestamp, nullable=False),
    # For the sweep that forgets old pictures.
    Column("used_at", Timestamp, nullable=False, index=True),
    sqlite_autoincrement=True,
)

images = Table(
    "images",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("order_id", ForeignKey("orders.id"), nullable=False, index=True),
    Column("sku", Text, nullable=False),
    Column("url", Text),
    Column("status", EnumText(ImageStatus), nullable=False),
    Column("copies", Integer, nullable=False),
    Column("sizing", EnumText(Sizing), nullable=False),
    Column("price_to_user", BigInteger),
    Column("attributes", Json, nullable=False),
    # What one copy costs the merchant, as quoted.
    Column("price", BigInteger, nullable=False, server_default=text("0")),
    # What the merchant said that it would be, then what it is.
    Column("expected_md5", Text),
    Column("md5", Text),
    # What kinds of files it may be; null is every kind that can be printed.
    Column("formats", EnumText(AcceptedFiles)),
    # As a person sees it. Kept here too, since the picture is forgotten before the order is.
    Column("width", Integer),
    Column("height", Integer),
    # Null until it is received, and again once the original has been removed.
    Column("picture_id", ForeignKey("pictures.id"), index=True),
    # How the print file was made; null until there is one.
    Column("manifest", Json),
    Column("error_message", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
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
    Column("status", EnumText(ImageStatus), nullable=False),
    Column("file", Text),
    Column("sha256", Text),
    Column("width", Integer),
    Column("height", Integer),
    Column("error_message", Text),
    Column("updated_at", Timestamp, nullable=False),
)
