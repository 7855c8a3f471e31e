"""Engine, session and the two tables, mapped with the asynchronous ORM."""

import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, ForeignKey, String, event
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

engine = create_async_engine(os.environ["PEER_DATABASE"])
Session = async_sessionmaker(engine, expire_on_commit=False)


@event.listens_for(engine.sync_engine, "connect")
def prepare(connection: Any, _record: object) -> None:
    """Make every connection to SQLite durable, with the same guarantee as ours."""
    if engine.dialect.name != "sqlite":
        return
    cursor = connection.cursor()
    for pragma in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


async def open_session() -> AsyncIterator[AsyncSession]:
    """Give each request its own session."""
    async with Session() as session:
        yield session


class Base(DeclarativeBase):
    """What the tables have in common."""


class Merchant(Base):
    """A merchant."""

    __tablename__ = "merchants"

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str] = mapped_column(String(40), unique=True)
    key_hash: Mapped[str] = mapped_column(String(64), unique=True)


class Order(Base):
    """One order with the same fields as ours."""

    __tablename__ = "orders"

    id: Mapped[int] = mapped_column(primary_key=True)
    merchant_id: Mapped[int] = mapped_column(ForeignKey("merchants.id"), index=True)
    status: Mapped[str] = mapped_column(String(20), default="NotYetSubmitted")
    merchant_order_id: Mapped[str | None]
    recipient_name: Mapped[str]
    address1: Mapped[str | None]
    address2: Mapped[str | None]
    address_town_or_city: Mapped[str | None]
    state_or_county: Mapped[str | None]
    postal_or_zip_code: Mapped[str | None]
    country_code: Mapped[str] = mapped_column(String(2))
    mobile_telephone: Mapped[str | None]
    telephone: Mapped[str | None]
    email: Mapped[str | None]
    preferred_shipping_method: Mapped[str] = mapped_column(String(20))
    payment: Mapped[str] = mapped_column(String(20))
    payment_url: Mapped[str | None]
    packing_slip_url: Mapped[str | None]
    price: Mapped[int] = mapped_column(default=0)
    invoice_amount_net: Mapped[int] = mapped_column(default=0)
    invoice_tax: Mapped[int] = mapped_column(default=0)
    invoice_currency: Mapped[str | None]
    error_message: Mapped[str | None]
    created: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), default=lambda: datetime.now(UTC)
    )
    last_updated: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), default=lambda: datetime.now(UTC)
    )
