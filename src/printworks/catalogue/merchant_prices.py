"""What a merchant pays for a copy: the prices of the catalogue, or those of its price list."""

import msgspec

from printworks.catalogue.products import Currency, Product
from printworks.rules.price_lists import PickedPrice, PriceRates


class MerchantPrices(msgspec.Struct, frozen=True):
    """The prices of one merchant at one moment."""

    currency: Currency
    # None if the merchant pays what the catalogue says.
    rates: PriceRates | None = None

    def pick(
        self, product: Product, country: str, copies: int = 1, currency: Currency | None = None
    ) -> PickedPrice | None:
        """Return what each of so many copies costs and why; None if it is not sold there."""
        wanted = currency or self.currency
        price = product.find_price(wanted, country=country)
        if price is None:
            return None
        if self.rates is None:
            return PickedPrice(price, price)
        return self.rates.pick(product.sku, wanted, price, copies)

    def find(
        self, product: Product, country: str, copies: int = 1, currency: Currency | None = None
    ) -> int | None:
        """Return what each of so many copies costs; None if it is not sold there or not for that."""
        picked = self.pick(product, country, copies, currency)
        return None if picked is None else picked.price

    def list_steps(self, product: Product, country: str) -> list[PickedPrice]:
        """Return the cheaper prices of more copies, each with the number from which it counts."""
        price = product.find_price(self.currency, country=country)
        if price is None or self.rates is None:
            return []
        return self.rates.list_steps(product.sku, self.currency, price)[1:]
