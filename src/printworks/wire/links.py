"""Signed links: whoever has one may view the page or picture, and no other can be guessed."""

import hashlib
import hmac
from functools import lru_cache
from typing import Final

# 128 bits in hexadecimal.
_DIGITS: Final = 32
# Clients poll the same orders; this many signatures take about three megabytes.
_MOST_REMEMBERED: Final = 16_384


class Links:
    """Creates links below the public address, and verifies them."""

    def __init__(self, public_url: str, key: str) -> None:
        self._public_url = public_url
        self._key = key.encode()
        # A signature never changes.
        self._sign = lru_cache(_MOST_REMEMBERED)(self._calculate_signature)

    def payment(self, token: str) -> str:
        """Return the link to the checkout of a recipient."""
        return f"{self._public_url}/pay/{token}"

    def proofs(self, image_id: int) -> tuple[str, str]:
        """Return the links to the preview and the thumbnail of an image."""
        folder = f"{self._public_url}/proofs/{image_id}/{self._sign(image_id)}"
        return f"{folder}/preview.jpg", f"{folder}/thumbnail.jpg"

    def is_signed(self, image_id: int, signature: str) -> bool:
        """Return whether a signature is valid for an image."""
        # `compare_digest` takes only ASCII.
        return signature.isascii() and hmac.compare_digest(signature, self._sign(image_id))

    def _calculate_signature(self, image_id: int) -> str:
        message = f"proof {image_id}".encode()
        return hmac.digest(self._key, message, hashlib.sha256).hex()[:_DIGITS]
