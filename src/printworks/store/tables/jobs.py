"""What happens later."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    text,
)

from printworks.store.engine.columns import Json, RowId, Timestamp
from printworks.store.tables.base import metadata

jobs = Table(
    "jobs",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("merchant_id", ForeignKey("merchants.id")),
    # Kind and merchant: what waits in one lane shares one limit in flight.
    Column("lane", Text, nullable=False),
    Column("args", Json, nullable=False),
    Column("state", Text, nullable=False),
    # In real time, also for a merchant whose clock is ahead.
    Column("due_at", Timestamp, nullable=False),
    # How often it was claimed, counted before it runs: a job that kills its process stops too.
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # Grows with every claim and never shrinks: only the latest claim may report.
    Column("fence", BigInteger, nullable=False, server_default=text("0")),
    Column("worker", Text),
    Column("lease_until", Timestamp),
    Column("dedupe_key", Text, unique=True),
    # The request that caused it, for whoever reads the logs.
    Column("request_id", Text),
    Column("last_error", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("finished_at", Timestamp),
    CheckConstraint(
        "state IN ('scheduled', 'due', 'running', 'done', 'failed', 'cancelled')", name="state"
    ),
    sqlite_autoincrement=True,
)

# Each state has an index of its own and no more: 100,000 sleepers cost a claim nothing.
Index(
    "ix_jobs_scheduled",
    jobs.c.due_at,
    sqlite_where=jobs.c.state == "scheduled",
    postgresql_where=jobs.c.state == "scheduled",
)

Index(
    "ix_jobs_due",
    jobs.c.lane,
    jobs.c.due_at,
    jobs.c.id,
    sqlite_where=jobs.c.state == "due",
    postgresql_where=jobs.c.state == "due",
)

Index(
    "ix_jobs_running",
    jobs.c.lane,
    sqlite_where=jobs.c.state == "running",
    postgresql_where=jobs.c.state == "running",
)

Index(
    "ix_jobs_finished",
    jobs.c.finished_at,
    sqlite_where=jobs.c.finished_at.is_not(None),
    postgresql_where=jobs.c.finished_at.is_not(None),
)

# What was given up, for whoever has to look into it.
Index(
    "ix_jobs_failed",
    jobs.c.id,
    sqlite_where=jobs.c.state == "failed",
    postgresql_where=jobs.c.state == "failed",
)
# A merchant's sleepers, for the sandbox clock that brings them forward.
Index(
    "ix_jobs_merchant_scheduled",
    jobs.c.merchant_id,
    sqlite_where=jobs.c.state == "scheduled",
    postgresql_where=jobs.c.state == "scheduled",
)
