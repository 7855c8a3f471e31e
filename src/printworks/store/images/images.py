"""Images of orders. Merchants reach them through their orders only."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    null,
    select,
    update,
)

from printworks.errors import NotFound
from printworks.rules.image_names import name_image
from printworks.rules.images import AcceptedFiles, ImageStatus
from printworks.rules.mockups import Mockup
from printworks.rules.sizing import CropPosition, Pixels, Sizing
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.many import InsertMany
from printworks.store.engine.prepared import PreparedStatement, structs_of
from printworks.store.engine.rows import columns_of, find_struct, group_by, possible_id
from printworks.store.orders.orders import increase_version
from printworks.store.orders.pages import IDS_OF_PAGE
from printworks.store.tables import images, orders


class Image(msgspec.Struct, frozen=True):
    """A picture to print on a product."""

    id: int
    order_id: int
    sku: str
    url: str | None
    # Of the file that was uploaded.
    name: str | None
    status: ImageStatus
    copies: int
    sizing: Sizing
    # Which part is printed, if not the middle: the members of a `CropPosition`.
    placement: dict[str, float] | None
    price_to_user: int | None
    attributes: dict[str, str]
    price: int
    expected_md5: str | None
    md5: str | None
    # Which kinds of files are accepted; None is every kind that can be printed.
    formats: AcceptedFiles | None
    width: int | None
    height: int | None
    # Counts the changes of what its proofs show; they are shown if they are of this edition.
    edition: int
    proof_edition: int
    picture_id: int | None
    # Which drawing there is of it.
    mockup: Mockup | None
    manifest: dict[str, Any] | None
    error_message: str | None
    created_at: datetime
    updated_at: datetime

    @property
    def pixels(self) -> Pixels | None:
        """Its size in pixels, once that is known."""
        return Pixels(self.width, self.height) if self.width and self.height else None

    @property
    def title(self) -> str:
        """What people call it."""
        return name_image(self.id, self.name, self.url)

    @property
    def position(self) -> CropPosition | None:
        """Which part of it is printed; None is the middle."""
        return None if self.placement is None else CropPosition.of(self.placement)

    @property
    def is_enlarged(self) -> bool:
        """Whether so small a part is printed that a proof needs the picture itself."""
        return self.position is not None and self.position.zoom > 1

    @property
    def has_proofs(self) -> bool:
        """Whether there is something to see: it was received, and nothing has changed since.

        Its size is unknown again once its proofs are removed.
        """
        is_received = self.status is ImageStatus.OK and self.width is not None
        return is_received and self.proof_edition == self.edition


class NewImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image as a merchant adds it."""

    sku: str
    url: str | None
    copies: int
    sizing: Sizing = Sizing.CROP
    # Which part is printed, if not the middle: the members of a `CropPosition`.
    placement: dict[str, float] | None = None
    price_to_user: int | None = None
    expected_md5: str | None = None
    attributes: dict[str, str] = {}
    price: int = 0
    # Of the file, if it is uploaded.
    name: str | None = None
    # Which kinds of files are accepted; None is every kind that can be printed.
    formats: AcceptedFiles | None = None

    @property
    def position(self) -> CropPosition | None:
        """Which part of it is printed; None is the middle."""
        return None if self.placement is None else CropPosition.of(self.placement)


class ItemSum(NamedTuple):
    """All copies of a product in an order, and what one of them costs."""

    sku: str
    price: int
    copies: int


class OrderedSum(NamedTuple):
    """All images of a product in an order, and their copies."""

    order_id: int
    sku: str
    images: int
    copies: int


Images: TypeAlias = Sequence[Image]

_COLUMNS: Final = columns_of(images, Image)
_OF_ORDER: Final = PreparedStatement(
    select(*_COLUMNS).where(images.c.order_id == bindparam("order_id")).order_by(images.c.id)
)
# All but the manifest, which is long and not shown.
_SHOWN: Final = [null().label("manifest") if c.name == "manifest" else c for c in _COLUMNS]
_SHOWN_OF_ORDER: Final = PreparedStatement(
    select(*_SHOWN).where(images.c.order_id == bindparam("order_id")).order_by(images.c.id)
)
_AWAITED_OF_ORDER: Final = PreparedStatement(
    select(literal_column("1"))
    .where(
        images.c.order_id == bindparam("order_id"),
        images.c.status == spelled_out(ImageStatus.AWAITING_URL_OR_DATA),
    )
    .limit(literal_column("1"))
)
_SUMS_OF_ORDER: Final = PreparedStatement(
    select(images.c.sku, images.c.price, func.sum(images.c.copies))
    .where(images.c.order_id == bindparam("order_id"))
    .group_by(images.c.sku, images.c.price)
)
_INSERT: Final = PreparedStatement(
    insert(images)
    .values({name: bindparam(name) for name in Image.__struct_fields__ if name != "id"})
    .returning(images.c.id)
)
_INSERT_MANY: Final = InsertMany(
    images,
    shared=("order_id", "created_at", "updated_at"),
    each=(*NewImage.__struct_fields__, "status"),
)
# What is known once the file has been received or printed.
_NOT_YET_KNOWN: Final[Mapping[str, None]] = dict.fromkeys(
    ("md5", "width", "height", "picture_id", "mockup", "manifest", "error_message")
)
_FIRST_EDITION: Final[Mapping[str, int]] = {"edition": 0, "proof_edition": 0}
# A part of the statement that reads a whole order.
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


def awaits_files(db: Connection, order_id: int) -> bool:
    """Whether images of an order have neither an address nor a file yet."""
    return _AWAITED_OF_ORDER.first(db, {"order_id": order_id}) is not None


def list_images_to_show(db: Connection, order_id: int) -> list[Image]:
    """Return the same without their manifests, which are long."""
    return [Image(*row) for row in _SHOWN_OF_ORDER.all(db, {"order_id": order_id})]


def sum_items(db: Connection, order_id: int) -> list[ItemSum]:
    """Return how many copies of each product an order has."""
    rows = _SUMS_OF_ORDER.all(db, {"order_id": order_id})
    return [ItemSum(sku, price, int(copies)) for sku, price, copies in rows]


def sum_items_of_orders(db: Connection, order_ids: Sequence[int]) -> dict[int, list[OrderedSum]]:
    """Return how many images and copies of each product some orders have, by order."""
    wanted = (
        select(images.c.order_id, images.c.sku, func.count(), func.sum(images.c.copies))
        .where(images.c.order_id.in_(order_ids))
        .group_by(images.c.order_id, images.c.sku)
        .order_by(images.c.order_id, func.min(images.c.id))
    )
    found = (
        OrderedSum(order, sku, count, int(copies))
        for order, sku, count, copies in db.execute(wanted)
    )
    return group_by(found, lambda item: item.order_id)


def list_images_of_page(
    db: Connection, merchant_id: int, *, newest: int, limit: int
) -> dict[int, list[Image]]:
    """Return the images of a page of orders without their manifests, by order."""
    page = {"merchant_id": merchant_id, "newest": newest, "limit": limit}
    found = (Image(*row) for row in _SHOWN_OF_PAGE.all(db, page))
    return group_by(found, lambda image: image.order_id)


def list_images_of_orders(db: Connection, order_ids: Sequence[int]) -> dict[int, list[Image]]:
    """Return the images of some orders without their manifests, by order."""
    wanted = select(*_SHOWN).where(images.c.order_id.in_(order_ids)).order_by(images.c.id)
    found = (Image(*row) for row in db.execute(wanted))
    return group_by(found, lambda image: image.order_id)


def get_image(db: Connection, image_id: int) -> Image:
    """Return an image by id; it exists."""
    return Image(*db.execute(select(*_COLUMNS).where(images.c.id == image_id)).one())


def find_image(db: Connection, image_id: int) -> Image | None:
    """Return an image by id, or None if it has been removed."""
    return find_struct(db, Image, select(*_COLUMNS).where(images.c.id == image_id))


def get_image_of_order(db: Connection, order_id: int, image_id: int) -> Image:
    """Return an image of this order, which the caller knows to be the merchant's."""
    image = find_image(db, possible_id(image_id))
    if image is None or image.order_id != order_id:
        raise NotFound("The image with the specified id was not found")
    return image


def delete_image(db: Connection, image: Image) -> None:
    """Delete an image; its picture is purged later. The caller counts the order's images."""
    db.execute(delete(images).where(images.c.id == image.id))


def insert_images(
    db: Connection, order_id: int, added: Iterable[NewImage], *, now: datetime
) -> list[Image]:
    """Add images to an order, in this order; the caller counts the order's images."""
    rows: list[dict[str, Any]] = [
        {
            **_NOT_YET_KNOWN,
            **_FIRST_EDITION,
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
    if len(rows) == 1:
        return [Image(id=_INSERT.one(db, rows[0])[0], **rows[0])]
    shared = {"order_id": order_id, "created_at": now, "updated_at": now}
    ids = _INSERT_MANY.run(db, shared, rows) if rows else []
    return [Image(id=image_id, **row) for image_id, row in zip(ids, rows, strict=True)]


def reserve_image_ids(db: Connection, order_id: int, count: int, *, now: datetime) -> list[int]:
    """Reserve ids for images that do not exist yet: files are named after them."""
    blank = NewImage(sku="", url=None, copies=0)
    ids = [image.id for image in insert_images(db, order_id, [blank] * count, now=now)]
    # Neither database uses the id of a deleted row again.
    db.execute(delete(images).where(images.c.id.in_(ids)))
    return ids


def insert_received_image(
    db: Connection, order_id: int, new: NewImage, facts: Mapping[str, object], *, now: datetime
) -> Image:
    """Add an image whose file is stored; its facts include the id that was reserved for it."""
    values = {**msgspec.structs.asdict(new), **facts, "order_id": order_id}
    values |= {"created_at": now, "updated_at": now}
    return Image(*db.execute(insert(images).values(values).returning(*_COLUMNS)).one())


def clear_prices_to_user(db: Connection, order_id: int) -> None:
    """Delete what the recipient would have paid for the images of an order."""
    db.execute(update(images).where(images.c.order_id == order_id).values(price_to_user=None))


def update_price(db: Connection, order_id: int, sku: str, price: int) -> None:
    """Set what one copy of a product costs in an order."""
    of_product = (images.c.order_id == order_id, images.c.sku == sku)
    db.execute(update(images).where(*of_product).values(price=price))


def update_products(
    db: Connection, resolved: Images, products: Mapping[int, tuple[str, dict[str, str]]]
) -> None:
    """Set the sku and the attributes of each image, by image, where they are others."""
    for image in resolved:
        sku, attributes = products[image.id]
        if (sku, attributes) != (image.sku, image.attributes):
            values = {"sku": sku, "attributes": attributes}
            db.execute(update(images).where(images.c.id == image.id).values(values))


def update_image(db: Connection, image: Image, values: Mapping[str, object]) -> Image | None:
    """Change an image if its status is still the one that was read; else return None."""
    edition = db.execute(
        update(images)
        .where(images.c.id == image.id, images.c.status == image.status)
        .values(**values)
        .returning(images.c.edition)
    ).scalar_one_or_none()
    if edition is None:
        return None
    increase_version(db, image.order_id)
    # It may have been changed while its file was received.
    return msgspec.structs.replace(image, **{**values, "edition": edition})
