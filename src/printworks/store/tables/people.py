"""People who sign in, their sessions and invitations, and the audit log."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from printworks.rules.people import Realm, Role
from printworks.store.engine.columns import EnumText, Json, RowId, Timestamp
from printworks.store.tables.base import metadata

people = Table(
    "people",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("realm", EnumText(Realm), nullable=False),
    # In lower case.
    Column("email", Text, nullable=False),
    Column("role", EnumText(Role), nullable=False),
    # Null for operators.
    Column("merchant_id", ForeignKey("merchants.id"), index=True),
    # Argon2id, with its parameters.
    Column("password_hash", Text, nullable=False),
    # The secret of the authenticator app, in base32 and sealed, and the step of the last code: no
    # code can be used twice.
    Column("totp_secret", Text),
    Column("totp_step", BigInteger, nullable=False, server_default=text("0")),
    # Wrong passwords and codes in a row, and when the last one was entered.
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("failed_at", Timestamp),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("realm", "email"),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    # SHA-256 of the token in the cookie.
    Column("hash", Text, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    Column("created_at", Timestamp, nullable=False),
    Column("seen_at", Timestamp, nullable=False),
    # For the sweep that deletes old sessions.
    Column("expires_at", Timestamp, nullable=False, index=True),
    # When the password was last entered.
    Column("proved_at", Timestamp, nullable=False),
    # The IP address and browser, so that people recognise their own sessions.
    Column("address", Text, nullable=False),
    Column("user_agent", Text, nullable=False),
)

# Links for people who cannot sign in yet: a new merchant where sign-up is not open, a colleague,
# an operator, or a person who has lost the password.
invitations = Table(
    "invitations",
    metadata,
    # SHA-256 of the token in the link.
    Column("hash", Text, primary_key=True),
    Column("realm", EnumText(Realm), nullable=False),
    Column("role", EnumText(Role), nullable=False),
    Column("email", Text, nullable=False),
    # Whose dashboard it opens; null makes a new merchant, or is for an operator.
    Column("merchant_id", ForeignKey("merchants.id")),
    # Who chooses a new password with it.
    Column("person_id", ForeignKey("people.id")),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("used_at", Timestamp),
)

# Rows are never changed.
audit_log = Table(
    "audit_log",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("at", Timestamp, nullable=False),
    # Whose data it was about; null if only the operator's own.
    Column("merchant_id", ForeignKey("merchants.id")),
    Column("realm", EnumText(Realm), nullable=False),
    # The e-mail address, which stays when the person is deleted.
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Json, nullable=False),
    Column("address", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Index(None, "merchant_id", "id"),
    sqlite_autoincrement=True,
)
