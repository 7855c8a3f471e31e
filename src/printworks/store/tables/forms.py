"""Forms that people have sent: what became of each, and those that wait for somebody to sign in."""

from sqlalchemy import Column, ForeignKey, Index, Table, Text

from printworks.store.engine.columns import Timestamp
from printworks.store.tables.base import metadata, partial_index

# A form is done once, however often it is sent: each has a token from when it was shown.
sent_forms = Table(
    "sent_forms",
    metadata,
    Column("person_id", ForeignKey("people.id"), primary_key=True),
    Column("token", Text, primary_key=True),
    # A keyed hash of everything in it but passwords.
    Column("fingerprint", Text, nullable=False),
    # Until then it may still be worked on by a process of its own transactions.
    Column("claimed_until", Timestamp, nullable=False),
    # Where it leads; null as long as nothing has been done.
    Column("location", Text),
    # The page that it showed instead, sealed: there may be a new key on it.
    Column("answer", Text),
    Column("finished_at", Timestamp),
    # For the sweep that deletes old rows.
    Column("created_at", Timestamp, nullable=False, index=True),
    # For the newest of a person: older ones make room.
    Index(None, "person_id", "created_at"),
)

# For the sweep that deletes pages, much sooner.
partial_index("ix_sent_forms_answer", sent_forms.c.finished_at, where="answer IS NOT NULL")

# What was typed into a form when its session had ended, until the same person has signed in again.
kept_forms = Table(
    "kept_forms",
    metadata,
    # SHA-256 of the token in the cookie of the browser that sent it.
    Column("hash", Text, primary_key=True),
    # The path of the page that it is on.
    Column("page", Text, primary_key=True),
    # Whose form it was; nobody else is shown it.
    Column("person_id", ForeignKey("people.id"), nullable=False, index=True),
    # The fields, sealed.
    Column("content", Text, nullable=False),
    # For the sweep that deletes what nobody came back for.
    Column("expires_at", Timestamp, nullable=False, index=True),
)
