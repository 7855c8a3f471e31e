"""Signed links: whoever has one may view the page or picture, and no other can be guessed."""

import hashlib
import hmac
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

# 128 bits in hexadecimal.
_DIGITS: Final = 32
# The signature of a link that ends begins with when, in seconds since 1970.
_WITH_END: Final = re.compile("([0-9a-f]{1,10})-[0-9a-f]{32}")
# Clients poll the same orders; this many signatures take about three megabytes.
_MOST_REMEMBERED: Final = 16_384
# Links made within an eighth of their time end together, so that an answer stays the same for
# that long.
_STEPS: Final = 8


def find_end(now: datetime, valid_for: timedelta | None) -> int | None:
    """Return when links made now end, in seconds since 1970; None if they do not."""
    if valid_for is None:
        return None
    step = max(1, int(valid_for.total_seconds()) // _STEPS)
    return (int(now.timestamp()) // step + _STEPS) * step


class Links:
    """Creates links below the public address, and verifies them."""

    def __init__(self, public_url: str, key: str, end: int | None = None) -> None:
        self._public_url = public_url
        self._key = key.encode()
        # When links to proofs end that are made now.
        self.end = end
        # A signature never changes.
        self._sign = lru_cache(_MOST_REMEMBERED)(self._calculate_signature)

    def payment(self, token: str) -> str:
        """Return the link to the checkout of a recipient."""
        return f"{self._public_url}/pay/{token}"

    def tracking(self, order_id: int) -> str:
        """Return the link at which anybody who has it can follow an order."""
        return f"{self._public_url}/track/{order_id}/{self._sign_order(order_id)}"

    def is_tracked(self, order_id: int, signature: str) -> bool:
        """Return whether a signature is the one of the link to follow an order."""
        # `compare_digest` takes only ASCII.
        right = self._sign_order(order_id)
        return signature.isascii() and hmac.compare_digest(signature, right)

    def _sign_order(self, order_id: int) -> str:
        message = f"track {order_id}".encode()
        return hmac.digest(self._key, message, hashlib.sha256).hex()[:_DIGITS]

    def proofs(self, image_id: int, edition: int = 0) -> tuple[str, str]:
        """Return the links to the preview and the thumbnail of an edition of an image.

        Whichever is asked for, the latest is shown: its number only lets browsers ask again.
        """
        folder, which = self._folder(image_id), f"?v={edition}" if edition else ""
        return f"{folder}/preview.jpg{which}", f"{folder}/thumbnail.jpg{which}"

    def mockup(self, image_id: int, edition: int = 0) -> str:
        """Return the link to the mockup of an image; it ends with those to its proofs."""
        which = f"?v={edition}" if edition else ""
        return f"{self._folder(image_id)}/mockup.jpg{which}"

    def _folder(self, image_id: int) -> str:
        return f"{self._public_url}/proofs/{image_id}/{self._sign(image_id, self.end)}"

    def mark(self, mark: str | None) -> str | None:
        """Return the mark of an answer that has links in it, which change when they end later."""
        return mark if mark is None or self.end is None else f"{mark}-{self.end:x}"

    def is_signed(self, image_id: int, signature: str) -> bool:
        """Return whether a signature is valid for an image, or was until its end."""
        # `compare_digest` takes only ASCII.
        if not signature.isascii():
            return False
        right = self._calculate_signature(image_id, _read_end(signature))
        return hmac.compare_digest(signature, right)

    def _calculate_signature(self, image_id: int, end: int | None) -> str:
        beginning = "" if end is None else f"{end:x}-"
        message = f"proof {beginning}{image_id}".encode()
        return beginning + hmac.digest(self._key, message, hashlib.sha256).hex()[:_DIGITS]


def end_of(signature: str) -> datetime | None:
    """Return when a link with a valid signature ends; None if it does not."""
    end = _read_end(signature)
    return None if end is None else datetime.fromtimestamp(end, UTC)


def _read_end(signature: str) -> int | None:
    found = _WITH_END.fullmatch(signature)
    return None if found is None else int(found[1], 16)
