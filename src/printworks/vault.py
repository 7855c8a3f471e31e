"""Encrypts the secrets that the database stores, with keys that lie in a file outside of it.

A sealed secret names its key, so that old keys go on opening what they sealed, and it is bound to
what it belongs to: copied to another row, it cannot be opened.
"""

import base64
import binascii
import os
import re
import secrets
import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from printworks.errors import ServiceUnavailable

log = structlog.get_logger(__name__)

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_ID_BYTES: Final = 4
_FORMAT: Final = "v1"
# How many opened secrets a process remembers.
_MOST_OPENED: Final = 1_000
_SEALED: Final = re.compile(rf"{_FORMAT}\.([0-9a-f]{{8}})\.([A-Za-z0-9_-]+={{0,2}})")
_LINE: Final = re.compile(r"([0-9a-f]{8}) ([A-Za-z0-9_-]{43}=)")
_HEADING: Final = (
    "# The keys that encrypt the secrets in the database; the newest is the last.\n"
    "# Every machine of a deployment needs this file. Keep a copy apart from those of the database.\n"
)


class SecretKeyUnusable(Exception):
    """The file of keys is missing or wrong; the message says what to do."""


class SecretUnreadable(ServiceUnavailable):
    """A secret cannot be opened with the keys that there are; the detail is for the operator."""

    def __init__(self, detail: str) -> None:
        super().__init__("The service cannot read its own secrets now; try again later.")
        self.detail = detail


class Vault:
    """Seals and opens secrets; reads the file again when it meets a key that it does not know."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._ciphers: Mapping[str, AESGCM] = {}

    def seal(self, text: str, *, key_id: str, about: str) -> str:
        """Encrypt a secret with one of the keys; `about` says to what it belongs."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._find(key_id).encrypt(nonce, text.encode(), about.encode())
        return f"{_FORMAT}.{key_id}.{base64.urlsafe_b64encode(nonce + sealed).decode()}"

    def open(self, sealed: str, *, about: str) -> str:
        """Decrypt a secret of what it belongs to."""
        try:
            return self._open(sealed, about)
        except SecretUnreadable as error:
            # Whoever asked is told less.
            log.error("secret unreadable", detail=error.detail)
            raise

    def can_open(self, sealed: str, *, about: str) -> bool:
        """Whether a secret can be decrypted."""
        try:
            self._open(sealed, about)
        except SecretUnreadable:
            return False
        return True

    def _open(self, sealed: str, about: str) -> str:
        key_id = key_of(sealed)
        try:
            content = base64.urlsafe_b64decode(sealed.rpartition(".")[2])
            nonce, rest = content[:_NONCE_BYTES], content[_NONCE_BYTES:]
            return self._find(key_id).decrypt(nonce, rest, about.encode()).decode()
        except (InvalidTag, binascii.Error, ValueError) as error:
            message = f"The secret of {about} was not encrypted with key {key_id} of {self.file}."
            raise SecretUnreadable(message) from error

    def has(self, key_id: str) -> bool:
        """Whether the file has a key."""
        return key_id in self._ciphers or key_id in self._read()

    @property
    def key_ids(self) -> list[str]:
        """The keys that are in the file now, the newest last."""
        return list(read_keys(self.file))

    def _find(self, key_id: str) -> AESGCM:
        cipher = self._ciphers.get(key_id) or self._read().get(key_id)
        if cipher is None:
            raise SecretUnreadable(
                f"A secret needs the key {key_id}, which is not in {self.file}; copy that file "
                "from another machine of this deployment, or from its backup."
            )
        return cipher

    def _read(self) -> Mapping[str, AESGCM]:
        with self._lock:
            try:
                keys = read_keys(self.file)
            except SecretKeyUnusable as error:
                raise SecretUnreadable(str(error)) from error
            self._ciphers = {key_id: AESGCM(key) for key_id, key in keys.items()}
            return self._ciphers


class OpenedSecrets:
    """Remembers the secrets that were opened last, for those that are used again and again.

    A secret that is sealed again or replaced is another text, so nothing here becomes wrong.
    """

    def __init__(self, vault: Vault) -> None:
        self._open = lru_cache(_MOST_OPENED)(lambda sealed, about: vault.open(sealed, about=about))

    def open(self, sealed: str, *, about: str) -> str:
        """Decrypt a secret of what it belongs to, unless it is known."""
        return self._open(sealed, about)


def key_of(sealed: str) -> str:
    """Return the id of the key with which a secret was sealed."""
    found = _SEALED.fullmatch(sealed)
    if found is None:
        raise SecretUnreadable("A secret in the database is not encrypted as this program does it.")
    return found[1]


def read_keys(file: Path) -> dict[str, bytes]:
    """Return the keys of a file by their ids, the newest last."""
    try:
        lines = file.read_text(encoding="ascii").splitlines()
    except FileNotFoundError as error:
        raise SecretKeyUnusable(
            f"`secret_key_file` {file} does not exist; copy it from another machine of this "
            "deployment, or from its backup."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise SecretKeyUnusable(f"`secret_key_file` {file} cannot be read: {error}.") from error
    keys = {}
    for number, line in enumerate(lines, 1):
        found = _LINE.fullmatch(line.strip())
        if found is not None:
            keys[found[1]] = base64.urlsafe_b64decode(found[2])
        elif line.strip() and not line.startswith("#"):
            raise SecretKeyUnusable(f"Line {number} of `secret_key_file` {file} is not a key.")
    if not keys:
        raise SecretKeyUnusable(f"`secret_key_file` {file} has no key in it.")
    return keys


def create_key_file(file: Path) -> None:
    """Make the file with a first key, for its owner alone; leave one that exists as it is."""
    if not file.exists():
        _create(file, {_make_id(): secrets.token_bytes(_KEY_BYTES)})


def copy_key_file(source: Path, file: Path) -> None:
    """Make the file with the keys of another, such as that of a backup, for its owner alone.

    Leave one that exists as it is. Raise `SecretKeyUnusable` if the other is no file of keys.
    """
    if not file.exists():
        _create(file, read_keys(source))


def _create(file: Path, keys: Mapping[str, bytes]) -> None:
    temporary = _write(file, keys)
    try:
        # Unlike a rename, this fails if another process has been quicker.
        os.link(temporary, file)
    except FileExistsError:
        pass
    except OSError:
        # A file system without links.
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
    _settle(file.parent)


def add_key(file: Path) -> str:
    """Add a new key to the file, and return its id."""
    key_id = _make_id()
    _replace(file, {**read_keys(file), key_id: secrets.token_bytes(_KEY_BYTES)})
    return key_id


def remove_keys(file: Path, *, except_for: frozenset[str]) -> list[str]:
    """Remove the keys that are not needed any more; return their ids."""
    keys = read_keys(file)
    kept = {key_id: key for key_id, key in keys.items() if key_id in except_for}
    if len(kept) < len(keys):
        _replace(file, kept)
    return [key_id for key_id in keys if key_id not in kept]


def _make_id() -> str:
    return secrets.token_hex(_ID_BYTES)


def _replace(file: Path, keys: Mapping[str, bytes]) -> None:
    _write(file, keys).replace(file)
    _settle(file.parent)


def _write(file: Path, keys: Mapping[str, bytes]) -> Path:
    """Write keys to a file beside the one that is meant, and return it."""
    lines = [f"{key_id} {base64.urlsafe_b64encode(key).decode()}\n" for key_id, key in keys.items()]
    temporary = file.with_name(f".{file.name}.{secrets.token_hex(_ID_BYTES)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(temporary, flags, 0o600), "w", encoding="ascii") as opened:
        opened.write(_HEADING + "".join(lines))
        opened.flush()
        os.fsync(opened.fileno())
    return temporary


def _settle(folder: Path) -> None:
    """Make sure that a power cut cannot undo a rename: without its key, a secret is lost."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
