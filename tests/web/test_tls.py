"""The local CA and its certificate."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from printworks.settings import Settings
from printworks.web.tls import (
    RENEW_BEFORE,
    TlsFiles,
    TlsUnusable,
    ca_file,
    list_names,
    prepare_tls,
    read_certificate,
)


def prepare(data: Path, *, now: datetime | None = None, **settings: str) -> TlsFiles:
    """Prepare the certificate of a data folder."""
    files = prepare_tls(load(data, **settings), now=now or datetime.now(UTC))
    assert files is not None
    return files


def load(data: Path, **settings: str) -> Settings:
    """Read settings as the service does."""
    return Settings.load(data, {f"PRINTWORKS_{k.upper()}": v for k, v in settings.items()})


def shake_hands(files: TlsFiles, ca: Path, name: str) -> str | None:
    """Let a client that trusts the CA greet a server with this certificate; return the version."""
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(files.cert, files.key)
    client_side = ssl.create_default_context(cafile=ca)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = server_side.wrap_bio(to_server, to_client, server_side=True)
    client = client_side.wrap_bio(to_client, to_server, server_hostname=name)
    for side in (client, server, client, server):
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    return client.version()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "::1", "print.example", "192.0.2.7"])
def test_a_client_that_trusts_the_ca_reaches_every_name(tmp_path: Path, name: str) -> None:
    files = prepare(tmp_path, host="192.0.2.7", public_url="https://print.example")

    version = shake_hands(files, ca_file(tmp_path), name)

    assert version == "TLSv1.3"


def test_private_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    files = prepare(tmp_path)

    holders = [path for path in files.key.parent.iterdir() if b"PRIVATE KEY" in path.read_bytes()]
    assert {path.name for path in holders} == {"server.pem", "ca-key.pem"}
    assert {path.stat().st_mode & 0o777 for path in holders} == {0o600}


def test_a_certificate_is_kept_while_it_is_good(tmp_path: Path) -> None:
    made = prepare(tmp_path).cert.read_bytes()

    again = prepare(tmp_path).cert.read_bytes()

    assert again == made


@pytest.mark.parametrize(
    ("left", "is_renewed"),
    [
        (RENEW_BEFORE + timedelta(minutes=1), False),
        (RENEW_BEFORE, True),
        (timedelta(days=-1), True),
    ],
)
def test_a_certificate_is_renewed_in_its_last_thirty_days(
    tmp_path: Path, left: timedelta, is_renewed: bool
) -> None:
    old = read_certificate(prepare(tmp_path).cert)

    new = read_certificate(prepare(tmp_path, now=old.not_valid_after_utc - left).cert)

    assert (new != old) is is_renewed


def test_a_new_name_makes_a_new_certificate_of_the_same_ca(tmp_path: Path) -> None:
    old = prepare(tmp_path).cert.read_bytes()
    trusted = ca_file(tmp_path).read_bytes()

    new = prepare(tmp_path, public_url="https://print.example").cert.read_bytes()

    assert new != old
    assert ca_file(tmp_path).read_bytes() == trusted


def test_a_damaged_certificate_is_made_anew(tmp_path: Path) -> None:
    files = prepare(tmp_path)
    files.cert.write_text("nothing of use")

    again = prepare(tmp_path)

    assert shake_hands(again, ca_file(tmp_path), "localhost") == "TLSv1.3"


def test_a_ca_without_its_key_is_not_replaced(tmp_path: Path) -> None:
    files = prepare(tmp_path)
    trusted = ca_file(tmp_path).read_bytes()
    (tmp_path / "tls" / "ca-key.pem").unlink()
    files.cert.unlink()

    with pytest.raises(TlsUnusable, match=r"ca-key\.pem, cannot be read; put it back"):
        prepare(tmp_path)

    assert ca_file(tmp_path).read_bytes() == trusted


def test_the_operators_own_certificate_is_used_as_it_is(tmp_path: Path) -> None:
    own = str(prepare(tmp_path / "elsewhere").cert)

    files = prepare(tmp_path / "data", tls_cert=own, tls_key=own)

    assert files == (Path(own), Path(own))
    assert not ca_file(tmp_path / "data").exists()


def test_a_certificate_with_another_key_is_refused(tmp_path: Path) -> None:
    own = prepare(tmp_path / "own")
    other = prepare(tmp_path / "other")

    with pytest.raises(TlsUnusable, match="are not a certificate with its key"):
        prepare(tmp_path / "data", tls_cert=str(own.cert), tls_key=str(other.key))


def test_behind_a_proxy_there_is_no_certificate(tmp_path: Path) -> None:
    files = prepare_tls(load(tmp_path, behind_proxy="127.0.0.1:8080"), now=datetime.now(UTC))

    assert files is None
    assert not ca_file(tmp_path).exists()


def test_an_address_that_means_every_address_is_no_name(tmp_path: Path) -> None:
    assert "0.0.0.0" not in list_names(load(tmp_path, host="0.0.0.0"))
