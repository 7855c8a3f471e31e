"""A plain FastAPI service with the asynchronous ORM, written as most teams would write it."""

# mypy: disable-error-code="import-not-found,untyped-decorator,no-any-unimported"
# FastAPI is installed only beside the benchmark, not where the types are checked.

import hashlib
from typing import Annotated

from fastapi import Depends, FastAPI, Header, HTTPException
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from bench.peers.fastapi_app.database import Merchant, Order, open_session
from bench.peers.fastapi_app.schemas import Envelope, NewOrder, OrderOut

app = FastAPI(title="Orders")

SessionDep = Annotated[AsyncSession, Depends(open_session)]


async def authenticate(
    session: SessionDep,
    merchant_code: Annotated[str, Header(alias="X-Service-MerchantId")],
    api_key: Annotated[str, Header(alias="X-Service-REST-API-Key")],
) -> Merchant:
    """Return the merchant of the request."""
    key_hash = hashlib.sha256(api_key.encode()).hexdigest()
    merchant = await session.scalar(
        select(Merchant).where(Merchant.code == merchant_code, Merchant.key_hash == key_hash)
    )
    if merchant is None:
        raise HTTPException(401, "Wrong merchant id or key.")
    return merchant


MerchantDep = Annotated[Merchant, Depends(authenticate)]


@app.get("/v3.0/orders/{order_id}")
async def get_order(order_id: int, session: SessionDep, merchant: MerchantDep) -> Envelope:
    """Show one order."""
    order = await session.scalar(
        select(Order).where(Order.id == order_id, Order.merchant_id == merchant.id)
    )
    if order is None:
        raise HTTPException(404, "The order with the specified id was not found.")
    return Envelope(data=OrderOut.model_validate(order))


@app.post("/v3.0/orders")
async def create_order(new: NewOrder, session: SessionDep, merchant: MerchantDep) -> Envelope:
    """Create an order."""
    order = Order(merchant_id=merchant.id, **new.model_dump())
    session.add(order)
    await session.commit()
    return Envelope(data=OrderOut.model_validate(order))
