"""The queue."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    Table,
    Text,
    text,
)

from printworks.store.engine.columns import Json, RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

jobs = Table(
    "jobs",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("merchant_id", ForeignKey("merchants.id")),
    # The order that it downloads something for; such jobs end with the order.
    Column("order_id", BigInteger),
    # Kind and merchant: the jobs of one lane share one limit in flight.
    Column("lane", Text, nullable=False),
    Column("args", Json, nullable=False),
    Column("state", Text, nullable=False),
    # In real time, also for a merchant whose clock is ahead.
    Column("due_at", Timestamp, nullable=False),
    # When its last attempt failed; a job that never ran waits since it was created.
    Column("put_back_at", Timestamp),
    # Counted when it is claimed, before it runs: a job that kills its process stops, too.
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # Grows with every claim and never shrinks: only the latest claim may report.
    Column("fence", BigInteger, nullable=False, server_default=text("0")),
    Column("worker", Text),
    # Shown to operators, and changed with every renewal; how long it is counts for other workers.
    Column("lease_until", Timestamp),
    Column("lease_seconds", Float),
    Column("dedupe_key", Text, unique=True),
    # The HTTP request that caused it, for the logs.
    Column("request_id", Text),
    # The span that caused it, as a `traceparent`, if there are traces.
    Column("trace_parent", Text),
    Column("last_error", Text),
    Column("created_at", Timestamp, nullable=False),
    Column("finished_at", Timestamp),
    CheckConstraint(
        "state IN ('scheduled', 'due', 'running', 'done', 'failed', 'cancelled')", name="state"
    ),
    sqlite_autoincrement=True,
)

# A row for each worker process that is alive, or was killed within the last hour.
heartbeats = Table(
    "heartbeats",
    metadata,
    Column("worker", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("process", BigInteger, nullable=False),
    Column("version", Text, nullable=False),
    Column("started_at", Timestamp, nullable=False),
    Column("beat_at", Timestamp, nullable=False),
    Column("running", Integer, nullable=False),
    Column("finished", BigInteger, nullable=False),
)

# Each state has an index of its own and no more: 100,000 scheduled jobs cost a claim nothing.
partial_index("ix_jobs_scheduled", jobs.c.due_at, where="state = 'scheduled'")

partial_index("ix_jobs_due", jobs.c.lane, jobs.c.due_at, jobs.c.id, where="state = 'due'")

partial_index("ix_jobs_running", jobs.c.lane, where="state = 'running'")

partial_index("ix_jobs_finished", jobs.c.finished_at, where="finished_at IS NOT NULL")

# Failed jobs, for operators.
partial_index("ix_jobs_failed", jobs.c.id, where="state = 'failed'")
# A merchant's scheduled jobs, for the sandbox clock that brings them forward.
partial_index("ix_jobs_merchant_scheduled", jobs.c.merchant_id, where="state = 'scheduled'")
# The downloads of an order.
partial_index("ix_jobs_order", jobs.c.order_id, where="order_id IS NOT NULL")
