"""A new certificate is presented without a restart."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from structlog.testing import capture_logs

from printworks.web.certificates import CertificateWatch
from printworks.web.tls import TlsFiles, ca_file
from tests.web.test_tls import load, prepare


class Issuer:
    """Writes certificates as a tool of the operator does."""

    def __init__(self, folder: Path) -> None:
        self.ca = trustme.CA()
        self.files = TlsFiles(folder / "cert.pem", folder / "key.pem")

    def issue(self, *, only: str = "both") -> None:
        """Write a new certificate, its key, or both."""
        issued = self.ca.issue_cert("print.example")
        if only in {"both", "cert"}:
            self.files.cert.write_bytes(issued.cert_chain_pems[0].bytes())
        if only in {"both", "key"}:
            self.files.key.write_bytes(issued.private_key_pem.bytes())


@pytest.fixture
def issuer(tmp_path: Path) -> Issuer:
    """Somebody whose first certificate is in use."""
    issuer = Issuer(tmp_path)
    issuer.issue()
    return issuer


@pytest.fixture
def watch(issuer: Issuer, tmp_path: Path) -> CertificateWatch:
    """Somebody who watches it."""
    settings = load(tmp_path, tls_cert=str(issuer.files.cert), tls_key=str(issuer.files.key))
    return CertificateWatch(settings, issuer.files)


def test_a_new_certificate_is_found_once(issuer: Issuer, watch: CertificateWatch) -> None:
    assert watch.find_new() is None
    issuer.issue()

    assert isinstance(watch.find_new(), ssl.SSLContext)
    assert watch.find_new() is None


def test_until_both_files_are_there_the_old_pair_is_used(
    issuer: Issuer, watch: CertificateWatch
) -> None:
    for break_it in (
        lambda: issuer.issue(only="cert"),
        lambda: issuer.files.cert.write_text("broken"),
        lambda: issuer.files.key.unlink(),
    ):
        break_it()
        with capture_logs() as said:
            assert watch.find_new() is None
            assert watch.find_new() is None
        assert [line["event"] for line in said] == ["new certificate not usable"]

    issuer.issue()
    assert watch.find_new() is not None


def test_the_certificate_of_the_local_ca_is_renewed_while_the_service_runs(tmp_path: Path) -> None:
    files = prepare(tmp_path)
    later = datetime.now(UTC) + timedelta(days=340)
    watch = CertificateWatch(load(tmp_path), files, clock=lambda: later)

    watch.renew()

    assert watch.find_new() is not None
    watch.renew()
    assert watch.find_new() is None
    files.cert.unlink()
    (tmp_path / "tls" / "ca-key.pem").unlink()
    with capture_logs() as said:
        watch.renew()
    assert [line["event"] for line in said] == ["certificate not renewed"]
    assert ca_file(tmp_path).exists()


def test_the_certificate_of_the_operator_is_left_alone(
    issuer: Issuer, watch: CertificateWatch
) -> None:
    before = issuer.files.cert.read_bytes()

    watch.renew()

    assert issuer.files.cert.read_bytes() == before
