"""Addresses that we hand out: whoever has one may look, and nobody can guess another."""

import hashlib
import hmac
from functools import lru_cache
from typing import Final

# As many hexadecimal digits as make 128 bits.
_DIGITS: Final = 32
# Whoever follows an order asks for it again and again; this many take about three megabytes.
_MOST_REMEMBERED: Final = 16_384


class Links:
    """Makes addresses under the public one, and recognises those that it made."""

    def __init__(self, public_url: str, key: str) -> None:
        self._public_url = public_url
        self._key = key.encode()
        # A signature never changes.
        self._sign = lru_cache(_MOST_REMEMBERED)(self._reckon_signature)

    def payment(self, token: str) -> str:
        """Return where a recipient pays."""
        return f"{self._public_url}/pay/{token}"

    def proofs(self, image_id: int) -> tuple[str, str]:
        """Return where an image can be seen as it will be printed, large and small."""
        folder = f"{self._public_url}/proofs/{image_id}/{self._sign(image_id)}"
        return f"{folder}/preview.jpg", f"{folder}/thumbnail.jpg"

    def is_signed(self, image_id: int, signature: str) -> bool:
        """Say whether a signature is the one that belongs to an image."""
        # Text that is not ASCII cannot be compared, and is not ours.
        return signature.isascii() and hmac.compare_digest(signature, self._sign(image_id))

    def _reckon_signature(self, image_id: int) -> str:
        message = f"proof {image_id}".encode()
        return hmac.digest(self._key, message, hashlib.sha256).hex()[:_DIGITS]
