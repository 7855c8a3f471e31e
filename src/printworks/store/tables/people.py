"""Who looks at the dashboard and the console, and what they did there."""

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
    # In small letters.
    Column("email", Text, nullable=False),
    Column("role", EnumText(Role), nullable=False),
    # Null for the operator's own people.
    Column("merchant_id", ForeignKey("merchants.id"), index=True),
    # Argon2id, with its parameters.
    Column("password_hash", Text, nullable=False),
    # The secret of the telephone's codes, in base32, and the step of the last code: none counts
    # twice.
    Column("totp_secret", Text),
    Column("totp_step", BigInteger, nullable=False, server_default=text("0")),
    # Wrong passwords and codes in a row, and when the last one came.
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("failed_at", Timestamp),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("realm", "email"),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    # SHA-256 of what the cookie holds.
    Column("hash", Text, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    Column("created_at", Timestamp, nullable=False),
    Column("seen_at", Timestamp, nullable=False),
    # For the sweep that forgets old ones.
    Column("expires_at", Timestamp, nullable=False, index=True),
    # When the password was last given.
    Column("proved_at", Timestamp, nullable=False),
    # From where and with what, so that somebody recognises their own.
    Column("address", Text, nullable=False),
    Column("user_agent", Text, nullable=False),
)

# Links that let somebody in who cannot get in alone: a new merchant where there is no open
# sign-up, a colleague, an operator, or somebody who forgot a password.
invitations = Table(
    "invitations",
    metadata,
    # SHA-256 of what the link holds.
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

# Who did what. Nothing here is ever changed.
audit_log = Table(
    "audit_log",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("at", Timestamp, nullable=False),
    # Whose affairs it was; null if only the operator's own.
    Column("merchant_id", ForeignKey("merchants.id")),
    Column("realm", EnumText(Realm), nullable=False),
    # The e-mail address, which stays when the person goes.
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Json, nullable=False),
    Column("address", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Index(None, "merchant_id", "id"),
    sqlite_autoincrement=True,
)
