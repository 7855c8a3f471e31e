"""An authenticator made of software: makes passkeys and signs, as a telephone does."""

import base64
import hashlib
import html
import json
import re
import struct
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from tests.running import Answer

ORIGIN = "https://print.example"
# User present, user verified, and with the data of a new credential.
PRESENT, VERIFIED, NEW = 0x01, 0x04, 0x40


def to_text(data: bytes) -> str:
    """Write bytes as browsers do."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def options_of(page: Answer) -> dict[str, Any]:
    """Return what a page asks the browser to sign."""
    [options] = re.findall(r'data-options="([^"]*)"', page.body.decode())
    read: dict[str, Any] = json.loads(html.unescape(options))
    return read


@dataclass
class Authenticator:
    """One device with one passkey."""

    origin: str = ORIGIN
    host: str = "print.example"
    flags: int = PRESENT | VERIFIED
    count: int = 0
    credential: bytes = field(default_factory=lambda: token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )

    def register(self, options: dict[str, Any]) -> str:
        """Make a passkey, and return what the browser sends."""
        point = self.key.public_key().public_numbers()
        public = cbor2.dumps(
            {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        )
        data = self._data(self.flags | NEW)
        data += bytes(16) + struct.pack(">H", len(self.credential)) + self.credential + public
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client_data = self._client_data("webauthn.create", options)
        return self._send(clientDataJSON=client_data, attestationObject=attestation)

    def sign(self, options: dict[str, Any]) -> str:
        """Sign, and return what the browser sends."""
        self.count += 1
        data = self._data(self.flags)
        client_data = self._client_data("webauthn.get", options)
        signed = data + hashlib.sha256(client_data).digest()
        signature = self.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        return self._send(clientDataJSON=client_data, authenticatorData=data, signature=signature)

    def _data(self, flags: int) -> bytes:
        host = hashlib.sha256(self.host.encode()).digest()
        return host + bytes([flags]) + struct.pack(">I", self.count)

    def _client_data(self, kind: str, options: dict[str, Any]) -> bytes:
        said = {"type": kind, "challenge": options["challenge"], "origin": self.origin}
        return json.dumps(said).encode()

    def _send(self, **response: bytes) -> str:
        written = {name: to_text(value) for name, value in response.items()}
        name = to_text(self.credential)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": written})
