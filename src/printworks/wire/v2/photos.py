"""Photos, which the core calls images, as the 2.x family shows and takes them."""

from typing import Annotated, Self

import msgspec
from msgspec import Meta

from printworks.catalogue.products import Product
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, NotSold
from printworks.rules.images import MOST_COPIES, AcceptedFiles, ImageStatus
from printworks.rules.orders import Payment
from printworks.rules.sizing import Sizing
from printworks.store.images.images import Image, Images, NewImage
from printworks.store.orders.orders import Order
from printworks.wire.images import show_shared_members
from printworks.wire.links import Links
from printworks.wire.reading import Attributes, Md5, Price, Reader, Url, read_integer, text


def _read_copies(name: str, value: object) -> int:
    # Here no code tells of a photo that is printed not at all, so there is none.
    number = read_integer(name, value, lowest=0, highest=MOST_COPIES + 1)
    if not 1 <= number <= MOST_COPIES:
        raise BadInput(f"`{name}` must be a whole number from 1 to {MOST_COPIES}.")
    return number


Type = Annotated[str, Meta(max_length=100), text(100)]
Copies = Annotated[int, Meta(ge=1, le=MOST_COPIES), Reader(_read_copies)]


class AddPhoto(msgspec.Struct, frozen=True, kw_only=True):
    """A picture to print, and on what; without `url` it may come as a file, or later."""

    type: Type
    # One, unless something else is said.
    copies: Copies | None = None
    url: Url | None = None
    sizing: Sizing = Sizing.CROP
    priceToUser: Price | None = None
    md5Hash: Md5 | None = None
    attributes: Attributes | None = None

    def to_new_image(self, product: Product, order: Order) -> NewImage:
        is_paid_by_recipient = order.payment is Payment.INVOICE_RECIPIENT
        return NewImage(
            sku=product.sku,
            url=self.url,
            copies=1 if self.copies is None else self.copies,
            sizing=self.sizing,
            price_to_user=self.priceToUser if is_paid_by_recipient else None,
            expected_md5=self.md5Hash,
            attributes=self.attributes or {},
            formats=AcceptedFiles.JPEG,
        )


class AddPhotoByUrl(AddPhoto, frozen=True, kw_only=True):
    """A picture of a batch, which must say where it can be fetched."""

    url: Url


def find_type(name: str, order: Order, catalogue: Catalogue) -> Product:
    """Return the product that an order's photo is printed on, or refuse its type."""
    # The catalogue is that of the country where the order is printed.
    country, quality = order.print_country or order.destination_country, order.quality_level
    if country is None:
        raise BadInput("Give the order a `destinationCountryCode` before its photos.")
    product = catalogue.resolve_type(name, quality=quality, country=country)
    if product is None:
        in_quality = f" in quality level {quality}" if quality else ""
        raise BadInput(f"There is no item of type {name.strip()}{in_quality} for {country}.")
    return product


def find_sold_type(name: str, order: Order, catalogue: Catalogue) -> Product:
    """Return the product of a new photo; refuse, by its type, what is not sold to the destination."""
    product, destination = find_type(name, order, catalogue), order.destination_country
    if destination is not None and not product.is_sold_to(destination):
        raise NotSold(product.sku, destination, name=product.type_names[0])
    return product


def name_type(sku: str, catalogue: Catalogue) -> str:
    """Return what this family calls a product; what has no type is called by its sku."""
    product = catalogue.find_product(sku)
    return sku if product is None else product.type_names[0]


class PhotoOut(msgspec.Struct, frozen=True):
    """A picture to print."""

    id: int
    type: str
    url: str | None
    status: ImageStatus
    copies: int
    sizing: Sizing
    price: int
    priceToUser: int | None
    md5Hash: str | None
    previewUrl: str | None
    thumbnailUrl: str | None
    attributes: dict[str, str]
    errorMessage: str | None

    @classmethod
    def of(cls, image: Image, catalogue: Catalogue, links: Links) -> Self:
        return cls(**show_shared_members(image, links), type=name_type(image.sku, catalogue))


class BatchOut(msgspec.Struct, frozen=True):
    """The photos that a batch added."""

    items: list[PhotoOut]
    errorMessage: str | None = None


def show_photos(images: Images, catalogue: Catalogue, links: Links) -> list[PhotoOut]:
    """Show photos in the order in which they were added."""
    return [PhotoOut.of(image, catalogue, links) for image in images]
