"""Mails, what is to be told, and who wants to be told what."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Table, Text

from printworks.rules.languages import Language
from printworks.rules.mail import MailKind, MailState
from printworks.store.engine.columns import ByteText, EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

mails = Table(
    "mails",
    metadata,
    Column("id", RowId, primary_key=True),
    # Without the angle brackets. Whatever is sent twice is sent with the same one.
    Column("message_id", ByteText, nullable=False, unique=True),
    Column("kind", EnumText(MailKind), nullable=False),
    Column("state", EnumText(MailState), nullable=False),
    # In lower case, sorted by its bytes: operators search for beginnings.
    Column("email", ByteText, nullable=False),
    # The name of a recipient; empty for people who sign in.
    Column("name", Text, nullable=False),
    Column("language", EnumText(Language), nullable=False),
    # What it tells. Its text is written from it when it is sent, and not stored.
    Column("facts", Json, nullable=False),
    # The token of its link, sealed; null as soon as the mail has ended.
    Column("secret", Text),
    # Whose dashboard it concerns, and who reads it there; not a reference, since people go.
    Column("merchant_id", ForeignKey("merchants.id")),
    Column("person_id", BigInteger),
    # The order of a recipient who was written to: it is forgotten with the recipient.
    Column("order_id", BigInteger),
    # What it was written for, if that must not happen twice.
    Column("cause", Text, unique=True),
    # What the mail server said last.
    Column("error", Text),
    # For the sweep that deletes old ones.
    Column("created_at", Timestamp, nullable=False, index=True),
    # After which it is not sent any more.
    Column("send_before", Timestamp, nullable=False),
    Column("sent_at", Timestamp),
    Index(None, "merchant_id", "id"),
    Index(None, "email", "id"),
    sqlite_autoincrement=True,
)

partial_index("ix_mails_order", mails.c.order_id, where="order_id IS NOT NULL")
# What is still to be sent, for the sweep that ends what nobody sends any more; and what failed.
partial_index("ix_mails_waiting", mails.c.send_before, where="state = 'waiting'")
partial_index("ix_mails_failed", mails.c.id, where="state = 'failed'")
# Those with a secret, for the rotation of keys.
partial_index("ix_mails_secret", mails.c.message_id, where="secret IS NOT NULL")

# What happened and is to be told, until the mails about it are written.
notices = Table(
    "notices",
    metadata,
    Column("id", RowId, primary_key=True),
    # Whose people are told; null for operators.
    Column("merchant_id", ForeignKey("merchants.id")),
    Column("kind", EnumText(MailKind), nullable=False),
    Column("facts", Json, nullable=False),
    Index(None, "merchant_id", "kind", "id"),
    sqlite_autoincrement=True,
)

# What people have chosen; what is missing is as usual.
mail_choices = Table(
    "mail_choices",
    metadata,
    Column("person_id", ForeignKey("people.id"), primary_key=True),
    Column("kind", EnumText(MailKind), primary_key=True),
    Column("is_wanted", Boolean, nullable=False),
)

# Recipients who want no more mail on behalf of a merchant. The address itself is not stored.
mail_refusals = Table(
    "mail_refusals",
    metadata,
    # SHA-256 of the merchant's id and the address.
    Column("hash", Text, primary_key=True),
    Column("created_at", Timestamp, nullable=False),
)
