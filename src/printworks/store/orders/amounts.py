"""What an order costs in all, for statements that add it up."""

from typing import Final

from sqlalchemy import case, func

from printworks.store.tables import orders

# Nothing where no seller collects tax.
TAX: Final = func.coalesce(orders.c.tax, 0)
# What is charged in all: the tax is added to the price, unless the price includes it.
TOTAL: Final = orders.c.price + case((orders.c.tax_included, 0), else_=TAX)
