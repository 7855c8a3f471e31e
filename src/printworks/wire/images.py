"""What every version shows of an image in the same way."""

from typing import Any

import msgspec

from printworks.store.images.images import Image
from printworks.wire.links import Links
from printworks.wire.reading import Md5, Url


class FillImage(msgspec.Struct, frozen=True, kw_only=True):
    """The file of an image that awaits it, or where it is."""

    url: Url | None = None
    md5Hash: Md5 | None = None


def show_shared_members(image: Image, links: Links) -> dict[str, Any]:
    """Return the members that have the same name and meaning in every version."""
    preview, thumbnail = links.proofs(image.id, image.edition) if image.has_proofs else (None, None)
    return {
        "id": image.id,
        "url": image.url,
        "status": image.status,
        "copies": image.copies,
        "sizing": image.sizing,
        "price": image.price,
        "priceToUser": image.price_to_user,
        "md5Hash": image.md5 or image.expected_md5,
        "previewUrl": preview,
        "thumbnailUrl": thumbnail,
        "attributes": image.attributes,
        "errorMessage": image.error_message,
    }
