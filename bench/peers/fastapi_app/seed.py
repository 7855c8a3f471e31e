"""Create the tables, one merchant and its first orders; print the credentials as JSON."""

import asyncio
import hashlib
import json
import secrets
import sys

from bench.peers.fastapi_app.database import Base, Merchant, Order, Session, engine
from bench.workload import ORDER_BODY


async def seed(order_count: int) -> None:
    """Fill an empty file."""
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    key = secrets.token_urlsafe(32)
    async with Session() as session:
        merchant = Merchant(code="bench", key_hash=hashlib.sha256(key.encode()).hexdigest())
        session.add(merchant)
        await session.flush()
        session.add_all(_an_order(merchant.id) for _ in range(order_count))
        await session.commit()
    await engine.dispose()
    print(json.dumps({"merchantId": merchant.code, "apiKey": key}))


def _an_order(merchant_id: int) -> Order:
    return Order(
        merchant_id=merchant_id,
        merchant_order_id=ORDER_BODY["merchantOrderId"],
        recipient_name=ORDER_BODY["recipientName"],
        address1=ORDER_BODY["address1"],
        address2=ORDER_BODY["address2"],
        address_town_or_city=ORDER_BODY["addressTownOrCity"],
        state_or_county=ORDER_BODY["stateOrCounty"],
        postal_or_zip_code=ORDER_BODY["postalOrZipCode"],
        country_code=ORDER_BODY["countryCode"],
        mobile_telephone=ORDER_BODY["mobileTelephone"],
        preferred_shipping_method=ORDER_BODY["preferredShippingMethod"],
        payment=ORDER_BODY["payment"],
    )


if __name__ == "__main__":
    asyncio.run(seed(int(sys.argv[1])))
