"""People who sign in, their sessions and invitations, and the audit log."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    false,
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
    # The news and the events of the merchant's feed that the person has seen: the last of each.
    Column("news_seen", BigInteger, nullable=False, server_default=text("0")),
    Column("events_seen", BigInteger, nullable=False, server_default=text("0")),
    # Whether the list of first steps was put away.
    Column("hides_first_steps", Boolean, nullable=False, server_default=false()),
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
    # Whether it began with a second factor: a code, a recovery code or a passkey.
    Column("is_strong", Boolean, nullable=False, server_default=false()),
    # The IP address and browser, so that people recognise their own sessions.
    Column("address", Text, nullable=False),
    Column("user_agent", Text, nullable=False),
)

# How often somebody has tried to enter, before anyone knows whether the person exists: by the address
# of a person, by a network address, by a browser that is known, and by a session that asks again.
sign_in_tries = Table(
    "sign_in_tries",
    metadata,
    # What is counted, hashed: an address that was typed is not stored.
    Column("key", Text, primary_key=True),
    Column("tries", Integer, nullable=False),
    # For the sweep that deletes what is forgotten.
    Column("at", Timestamp, nullable=False, index=True),
)

# Codes on paper, each of which takes the place of a second factor once.
recovery_codes = Table(
    "recovery_codes",
    metadata,
    # SHA-256 of a code with 80 random bits.
    Column("hash", Text, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    Column("created_at", Timestamp, nullable=False),
    Column("used_at", Timestamp),
)

passkeys = Table(
    "passkeys",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    # The id that the authenticator gave it, in base64url.
    Column("credential", Text, nullable=False, unique=True),
    # In the format of WebAuthn (COSE).
    Column("public_key", LargeBinary, nullable=False),
    # How often the authenticator says it was used; always 0 if it does not count.
    Column("sign_count", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("last_used_at", Timestamp),
    sqlite_autoincrement=True,
)

# What authenticators have signed: nothing can be used twice. Kept until it would have expired anyway.
used_challenges = Table(
    "used_challenges",
    metadata,
    Column("hash", Text, primary_key=True),
    Column("expires_at", Timestamp, nullable=False, index=True),
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
    # The email address, which stays when the person is deleted.
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("details", Json, nullable=False),
    Column("address", Text, nullable=False),
    Column("request_id", Text, nullable=False),
    Index(None, "merchant_id", "id"),
    sqlite_autoincrement=True,
)
