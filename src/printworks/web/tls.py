"""TLS certificates: those of the settings, else one of a local CA, renewed at the start.

Clients that install `tls/ca.pem` trust every certificate of this data folder, so the CA is created
once and never replaced.
"""

import fcntl
import os
import re
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature

from printworks.settings import Settings

if TYPE_CHECKING:
    # Where the settings name a certificate, a start needs neither.
    import trustme
    from cryptography import x509

# Browsers refuse certificates that live much longer than a year.
LIFETIME: Final = timedelta(days=365)
RENEW_BEFORE: Final = timedelta(days=30)


class TlsUnusable(Exception):
    """There is no usable certificate; the message says what to do."""


class TlsFiles(NamedTuple):
    """Where the certificate chain and its private key are; they may be one file."""

    cert: Path
    key: Path


def ca_file(data: Path) -> Path:
    """Return where the certificate of the local CA is or will be."""
    return data / "tls" / "ca.pem"


def prepare_tls(settings: Settings, *, now: datetime) -> TlsFiles | None:
    """Return the certificate, created or renewed if needed; None behind a proxy."""
    if settings.behind_proxy:
        return None
    if settings.tls_cert is not None and settings.tls_key is not None:
        return _check_pair(TlsFiles(settings.tls_cert, settings.tls_key))
    # Key and certificate in one file, so that they always match.
    server = settings.data / "tls" / "server.pem"
    names = list_names(settings)
    with _only_one_process(settings.data / "tls"):
        ca = _get_ca(settings.data)
        if not _is_good(server, ca, names, now=now):
            issued = _open_authority(settings.data).issue_cert(
                *names,
                organization_name="Printworks",
                organization_unit_name="Local certificate",
                not_before=now - timedelta(days=1),
                not_after=now + LIFETIME,
            )
            _write(server, issued.private_key_and_cert_chain_pem.bytes(), mode=0o600)
    return TlsFiles(server, server)


def _check_pair(files: TlsFiles) -> TlsFiles:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.cert, files.key)
    except OSError as error:
        message = f"{files.cert} and {files.key} are not a certificate with its key: {error}."
        raise TlsUnusable(message) from error
    return files


def make_context(files: TlsFiles) -> ssl.SSLContext:
    """Return what a server needs to speak TLS 1.2 or better, with forward secrecy."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # For TLS 1.2; those of 1.3 are all good.
    context.set_ciphers("ECDHE+AESGCM:ECDHE+CHACHA20")
    context.set_alpn_protocols(["http/1.1"])
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.load_cert_chain(files.cert, files.key)
    return context


def read_certificate(path: Path) -> "x509.Certificate":
    """Return the first certificate of a PEM file; raise `TlsUnusable` if there is none."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(path.read_bytes())[0]
    except (OSError, ValueError) as error:
        raise TlsUnusable(f"{path} has no readable certificate: {error}.") from error


def list_names(settings: Settings) -> list[str]:
    """Return the names by which clients reach this machine, sorted."""
    public = urlsplit(settings.public_url).hostname or "localhost"
    names = {"localhost", "127.0.0.1", "::1", settings.host, public, socket.gethostname()}
    return sorted(name.lower() for name in names if _can_be_certified(name))


def _can_be_certified(name: str) -> bool:
    try:
        return not ip_address(name).is_unspecified
    except ValueError:
        return re.fullmatch(r"(?!.*--)[A-Za-z0-9][A-Za-z0-9.-]{0,62}(?<![.-])", name) is not None


def _get_ca(data: Path) -> "x509.Certificate":
    path = ca_file(data)
    if not path.exists():
        import trustme

        made = trustme.CA(organization_name="Printworks", organization_unit_name="Local CA")
        # The CA exists once its certificate does, so the key goes first.
        _write(_ca_key_file(data), made.private_key_pem.bytes(), mode=0o600)
        _write(path, made.cert_pem.bytes(), mode=0o644)
    return read_certificate(path)


def _ca_key_file(data: Path) -> Path:
    return data / "tls" / "ca-key.pem"


def _open_authority(data: Path) -> "trustme.CA":
    import trustme

    key = _ca_key_file(data)
    try:
        return trustme.CA.from_pem(ca_file(data).read_bytes(), key.read_bytes())
    except (OSError, ValueError, TypeError) as error:
        raise TlsUnusable(
            f"A new certificate is due, but the key of the local CA, {key}, cannot be read; put it "
            f"back, or remove {key.parent} for a new CA, which every client must then trust."
        ) from error


def _is_good(path: Path, ca: "x509.Certificate", names: list[str], *, now: datetime) -> bool:
    from cryptography import x509

    try:
        found = read_certificate(path)
        found.verify_directly_issued_by(ca)
    except (TlsUnusable, ValueError, TypeError, InvalidSignature):
        return False
    held = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return (
        found.not_valid_after_utc - now > RENEW_BEFORE
        and sorted(str(name.value) for name in held) == names
    )


@contextmanager
def _only_one_process(folder: Path) -> Iterator[None]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write(path: Path, content: bytes, *, mode: int) -> None:
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
