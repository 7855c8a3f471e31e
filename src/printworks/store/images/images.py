"""Images as they are remembered. Merchants reach them through their orders only."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

import msgspec
from sqlalchemy import Connection, bindparam, delete, insert, null, select, update

from printworks.errors import NotFound
from printworks.rules.images import AcceptedFiles, ImageStatus
from printworks.rules.sizing import Pixels, Sizing
from printworks.store.engine.prepared import PreparedStatement, structs_of
from printworks.store.orders.orders import IDS_OF_PAGE, LARGEST_ID
from printworks.store.tables import images, orders


class Image(msgspec.Struct, frozen=True):
    """A picture to print on a product, in the words of the core."""

    id: int
    order_id: int
    sku: str
    url: str | None
    status: ImageStatus
    copies: int
    sizing: Sizing
    price_to_user: int | None
    attributes: dict[str, str]
    price: int
    expected_md5: str | None
    md5: str | None
    # What kinds of files it may be; None is every kind that can be printed.
    formats: AcceptedFiles | None
    width: int | None
    height: int | None
    picture_id: int | None
    manifest: dict[str, Any] | None
    error_message: str | None
    created_at: datetime
    updated_at: datetime

    @property
    def pixels(self) -> Pixels | None:
        """Its size as a person sees it, once that is known."""
        if self.width is None or self.height is None:
            return None
        return Pixels(self.width, self.height)


class NewImage(msgspec.Struct, frozen=True, kw_only=True):
    """What a merchant says of an image when adding it."""

    sku: str
    url: str | None
    copies: int
    sizing: Sizing = Sizing.CROP
    price_to_user: int | None = None
    expected_md5: str | None = None
    attributes: dict[str, str] = {}
    price: int = 0
    # What kinds of files it may be; None is every kind that can be printed.
    formats: AcceptedFiles | None = None


Images: TypeAlias = Sequence[Image]

_COLUMNS: Final = [images.c[name] for name in Image.__struct_fields__]
_OF_ORDER: Final = PreparedStatement(
    select(*_COLUMNS).where(images.c.order_id == bindparam("order_id")).order_by(images.c.id)
)
# What is shown of images, which is all but how they were printed.
_SHOWN: Final = [null().label("manifest") if c.name == "manifest" else c for c in _COLUMNS]
_SHOWN_OF_ORDER: Final = PreparedStatement(
    select(*_SHOWN).where(images.c.order_id == bindparam("order_id")).order_by(images.c.id)
)
# For whoever shows an order with all that belongs to it.
IMAGES_OF_ORDER: Final = (
    select(structs_of(Image, _SHOWN)).where(images.c.order_id == orders.c.id).scalar_subquery()
)
# The same page of orders that `list_orders` shows.
_SHOWN_OF_PAGE: Final = PreparedStatement(
    select(*_SHOWN).where(images.c.order_id.in_(IDS_OF_PAGE)).order_by(images.c.id)
)


def list_images(db: Connection, order_id: int) -> list[Image]:
    """Return the images of an order, in the order in which they were added."""
    return [Image(*row) for row in _OF_ORDER.all(db, {"order_id": order_id})]


def list_images_to_show(db: Connection, order_id: int) -> list[Image]:
    """Return the same without their manifests, which are long."""
    return [Image(*row) for row in _SHOWN_OF_ORDER.all(db, {"order_id": order_id})]


def list_images_of_page(
    db: Connection, merchant_id: int, *, newest: int, limit: int
) -> dict[int, list[Image]]:
    """Return the images of a page of orders without their manifests, by order."""
    by_order: dict[int, list[Image]] = {}
    page = {"merchant_id": merchant_id, "newest": newest, "limit": limit}
    for row in _SHOWN_OF_PAGE.all(db, page):
        image = Image(*row)
        by_order.setdefault(image.order_id, []).append(image)
    return by_order


def list_images_of_orders(db: Connection, order_ids: Sequence[int]) -> dict[int, list[Image]]:
    """Return the images of some orders without their manifests, by order."""
    by_order: dict[int, list[Image]] = {}
    wanted = select(*_SHOWN).where(images.c.order_id.in_(order_ids)).order_by(images.c.id)
    for row in db.execute(wanted):
        image = Image(*row)
        by_order.setdefault(image.order_id, []).append(image)
    return by_order


def get_image(db: Connection, image_id: int) -> Image:
    """Return an image by its number, as jobs know it."""
    return Image(*db.execute(select(*_COLUMNS).where(images.c.id == image_id)).one())


def find_image(db: Connection, image_id: int) -> Image | None:
    """Return an image by its number, or None if it has been removed."""
    row = db.execute(select(*_COLUMNS).where(images.c.id == image_id)).one_or_none()
    return None if row is None else Image(*row)


def get_image_of_order(db: Connection, order_id: int, image_id: int) -> Image:
    """Return an image of this order, which the caller knows to be the merchant's."""
    image = find_image(db, image_id) if 0 < image_id <= LARGEST_ID else None
    if image is None or image.order_id != order_id:
        raise NotFound("The image with the specified id was not found")
    return image


def delete_image(db: Connection, image: Image) -> None:
    """Forget an image; what was received for it is forgotten later, with others."""
    db.execute(delete(images).where(images.c.id == image.id))


def insert_images(
    db: Connection, order_id: int, added: Iterable[NewImage], *, now: datetime
) -> list[Image]:
    """Add images to an order, in this order."""
    rows = [
        {
            **msgspec.structs.asdict(new),
            "order_id": order_id,
            "status": (
                ImageStatus.NOT_YET_DOWNLOADED if new.url else ImageStatus.AWAITING_URL_OR_DATA
            ),
            "created_at": now,
            "updated_at": now,
        }
        for new in added
    ]
    if not rows:
        return []
    statement = insert(images).returning(*_COLUMNS, sort_by_parameter_order=True)
    return [Image(*row) for row in db.execute(statement, rows)]


def reserve_image_id(db: Connection, order_id: int, new: NewImage, *, now: datetime) -> int:
    """Return a number that no other image will ever have, for one that does not exist yet."""
    # Either database counts on from a row that is gone.
    [image] = insert_images(db, order_id, [new], now=now)
    delete_image(db, image)
    return image.id


def insert_received_image(
    db: Connection,
    order_id: int,
    image_id: int,
    new: NewImage,
    facts: Mapping[str, object],
    *,
    now: datetime,
) -> Image:
    """Add an image whose file is here, under the number that was reserved for it."""
    values = {
        **msgspec.structs.asdict(new),
        **facts,
        "id": image_id,
        "order_id": order_id,
        "created_at": now,
        "updated_at": now,
    }
    return Image(*db.execute(insert(images).values(values).returning(*_COLUMNS)).one())


def clear_prices_to_user(db: Connection, order_id: int) -> None:
    """Forget what the recipient would have paid for the images of an order."""
    db.execute(update(images).where(images.c.order_id == order_id).values(price_to_user=None))


def update_image(db: Connection, image: Image, values: Mapping[str, object]) -> Image | None:
    """Change an image if it is still in the status in which it was read; else return None."""
    changed = db.execute(
        update(images)
        .where(images.c.id == image.id, images.c.status == image.status)
        .values(**values)
    )
    return msgspec.structs.replace(image, **values) if changed.rowcount else None
