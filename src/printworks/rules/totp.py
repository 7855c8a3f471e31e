"""Time-based one-time passwords (RFC 6238)."""

import base64
import hashlib
import hmac
import struct
from datetime import datetime
from typing import Final
from urllib.parse import quote

STEP_SECONDS: Final = 30
DIGITS: Final = 6
# Clocks differ: the previous and the next code are valid as well.
_NEIGHBOURS: Final = (0, -1, 1)


def make_code(secret: str, step: int) -> str:
    """Return the code of a step, for a secret in base32."""
    key = base64.b32decode(secret)
    digest = hmac.digest(key, struct.pack(">Q", step), hashlib.sha1)
    offset = digest[-1] & 0x0F
    (number,) = struct.unpack(">I", digest[offset : offset + 4])
    return f"{(number & 0x7FFFFFFF) % 10**DIGITS:0{DIGITS}}"


def find_step(secret: str, code: str, *, last_step: int, now: datetime) -> int | None:
    """Return the step whose code this is; None if it is wrong or was used before."""
    code = "".join(code.split())
    if not code.isascii():
        return None
    current = int(now.timestamp()) // STEP_SECONDS
    try:
        for step in (current + neighbour for neighbour in _NEIGHBOURS):
            if step > last_step and hmac.compare_digest(make_code(secret, step), code):
                return step
    except ValueError:
        return None
    return None


def make_address(secret: str, *, issuer: str, account: str) -> str:
    """Return the address for the QR code of an authenticator app."""
    label = quote(f"{issuer}:{account}", safe="")
    return f"otpauth://totp/{label}?secret={secret}&issuer={quote(issuer, safe='')}"
