"""Images of orders, the pictures received for them, and packing slips."""

from sqlalchemy import BigInteger, Column, ForeignKey, Integer, Table, Text, text

from printworks.rules.images import AcceptedFiles, ImageStatus
from printworks.rules.mockups import Mockup
from printworks.rules.sizing import Sizing
from printworks.store.engine.columns import EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# Received files: one row for each content, however often and by whom it was sent.
pictures = Table(
    "pictures",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("sha256", Text, nullable=False, unique=True),
    Column("md5", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    # What it is; null if it cannot be printed, and `refusal` says why.
    Column("facts", Json),
    Column("refusal", Text),
    # The stored file, and the smaller one from which proofs are rendered.
    Column("original", Text),
    Column("proxy", Text),
    Column("created_at", Timestamp, nullable=False),
    # For the sweep that deletes old pictures.
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
    # The name of the file that was uploaded; whatever has a URL is named after that.
    Column("name", Text),
    Column("status", EnumText(ImageStatus), nullable=False),
    Column("copies", Integer, nullable=False),
    Column("sizing", EnumText(Sizing), nullable=False),
    # Which part is printed, across, down and how large; null is the middle.
    Column("placement", Json),
    Column("price_to_user", BigInteger),
    Column("attributes", Json, nullable=False),
    # What one copy costs the merchant, as quoted.
    Column("price", BigInteger, nullable=False, server_default=text("0")),
    # What the merchant expects, then what was received.
    Column("expected_md5", Text),
    Column("md5", Text),
    # Which kinds of files are accepted; null is every kind that can be printed.
    Column("formats", EnumText(AcceptedFiles)),
    # As displayed. Stored here too, since the picture is deleted before the order is; null again
    # once its proofs have been removed.
    Column("width", Integer),
    Column("height", Integer),
    # Null until it is received, and again some time after its order has ended.
    Column("picture_id", ForeignKey("pictures.id"), index=True),
    # Which drawing there is of it; null until there is one, and once it has been removed.
    Column("mockup", EnumText(Mockup)),
    # Counts the changes of what its proofs show; they are shown if they are of this edition.
    Column("edition", Integer, nullable=False, server_default=text("0")),
    Column("proof_edition", Integer, nullable=False, server_default=text("0")),
    # How the print file was made; null until there is one.
    Column("manifest", Json),
    Column("error_message", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)

# Images with proofs, for the sweep that removes old ones.
partial_index("ix_images_proofs", images.c.created_at, where="width IS NOT NULL")

# Images with pictures, for the sweep that removes those of old orders.
partial_index("ix_images_pictures", images.c.created_at, where="picture_id IS NOT NULL")

# Images that cannot be printed, of orders that may be drafts.
partial_index(
    "ix_images_failed",
    images.c.order_id,
    where="status IN ('FileNotFoundAtUrl', 'Invalid')",
)

# What a merchant's URL held when it was last fetched, so that its server can be asked whether
# that has changed.
downloads = Table(
    "downloads",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    # SHA-256: a URL may be longer than an index allows.
    Column("url_hash", Text, primary_key=True),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("picture_id", ForeignKey("pictures.id"), nullable=False, index=True),
)

# Whose files they are: every merchant that has sent a content, and how many bytes it takes.
merchant_files = Table(
    "merchant_files",
    metadata,
    Column("merchant_id", ForeignKey("merchants.id"), primary_key=True),
    Column("picture_id", ForeignKey("pictures.id"), primary_key=True, index=True),
    Column("size", BigInteger, nullable=False),
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
