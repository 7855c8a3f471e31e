"""The guard: who gets a socket, by which setting, and in which deployment."""

import socket
from ipaddress import ip_network
from pathlib import Path

import pytest

from printworks.net.addresses import FORBIDDEN_4, FORBIDDEN_6
from printworks.net.errors import BadAddress
from printworks.net.guard import Forbidden, Guard
from printworks.net.own_address import OwnAddress
from printworks.settings import BadSetting, Settings
from tests.net.hostile import ORDINARY_4, ORDINARY_6
from tests.net.running import answers, witness_connections

LIVE = {"ENVIRONMENT": "live", "PUBLIC_URL": "https://print.example", "PAYMENTS": "account"}


def may_reach(guard: Guard, address: str, port: int) -> bool:
    """Ask the guard."""
    try:
        guard.check(address, port)
    except Forbidden:
        return False
    return True


def guard_of(folder: Path, environ: dict[str, str]) -> Guard:
    """Return the guard of a deployment with these settings."""
    given = {f"PRINTWORKS_{name}": value for name, value in environ.items()}
    return Guard.of(Settings.load(folder, given))


@pytest.mark.parametrize("address", [*ORDINARY_4, *ORDINARY_6])
@pytest.mark.parametrize("port", [80, 443])
def test_an_ordinary_address_passes(address: str, port: int) -> None:
    assert may_reach(Guard(), address, port)


@pytest.mark.parametrize("port", [0, 1, 22, 25, 79, 81, 442, 444, 5432, 8080, 8443, 65535])
def test_other_ports_do_not(port: int) -> None:
    assert not may_reach(Guard(), "93.184.215.14", port)


def test_a_socket_is_made_for_an_ordinary_address_and_connected_to_nothing() -> None:
    [info] = answers(["93.184.215.14"], 443)

    with witness_connections() as connections, Guard()(info) as made:
        assert made.family == socket.AF_INET

    assert connections == []


@pytest.mark.parametrize("address", ["10.0.0.5", "::1", "nonsense"])
def test_no_socket_is_made_for_another(address: str) -> None:
    [info] = answers([address], 443)

    with pytest.raises(Forbidden, match=address):
        Guard()(info)


def test_only_internet_addresses_get_a_socket() -> None:
    info = (socket.AF_UNIX, socket.SOCK_STREAM, 0, "", ("/var/run/docker.sock", 443))

    with pytest.raises(Forbidden):
        Guard()(info)


class TestLoopback:
    @pytest.mark.parametrize("address", ["127.0.0.1", "127.1.2.3", "::1"])
    @pytest.mark.parametrize("port", [1, 80, 8000, 65535])
    def test_is_open_on_every_port_when_allowed(self, address: str, port: int) -> None:
        assert may_reach(Guard(allow_loopback=True), address, port)

    @pytest.mark.parametrize(
        "address",
        [
            *("::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "::2"),
            *("0.0.0.0", "::", "10.0.0.5", "169.254.169.254", "fe80::1"),
        ],
    )
    def test_does_not_open_what_merely_leads_there(self, address: str) -> None:
        assert not may_reach(Guard(allow_loopback=True), address, 80)

    @pytest.mark.parametrize(
        "environ",
        [
            {},
            {"HOST": "localhost"},
            {"HOST": "::1"},
            {"HOST": "127.0.0.9", "PUBLIC_URL": "https://127.0.0.9:8443"},
        ],
    )
    def test_is_allowed_in_a_sandbox_that_listens_there_alone(
        self, tmp_path: Path, environ: dict[str, str]
    ) -> None:
        guard = guard_of(tmp_path, environ)

        assert may_reach(guard, "127.0.0.1", 5000)
        assert may_reach(guard, "::1", 5000)
        assert not may_reach(guard, "192.168.0.5", 80)

    @pytest.mark.parametrize(
        "environ",
        [
            LIVE,
            {**LIVE, "HOST": "127.0.0.1"},
            {**LIVE, "PUBLIC_URL": "https://localhost:8443"},
            {"HOST": "0.0.0.0"},
            {"HOST": "::"},
            {"HOST": "192.0.2.7"},
            {"HOST": "print.example"},
            {"BEHIND_PROXY": "127.0.0.1:8080"},
            {"BEHIND_PROXY": "unix:web.sock"},
            {"PUBLIC_URL": "https://print.example"},
        ],
    )
    def test_is_not_allowed_where_others_can_ask(
        self, tmp_path: Path, environ: dict[str, str]
    ) -> None:
        guard = guard_of(tmp_path, environ)

        assert not may_reach(guard, "127.0.0.1", 80)
        assert not may_reach(guard, "::1", 443)


class TestOurOwnAddress:
    @pytest.mark.parametrize(
        "address",
        [
            *("https://print.example/", "https://PRINT.example./a", "http://print.example:8443/"),
            *("https://print.example:443/", "http://print.example:443/"),
        ],
    )
    def test_is_refused_when_it_is_given(self, tmp_path: Path, address: str) -> None:
        with pytest.raises(BadAddress, match="this service itself"):
            guard_of(tmp_path, LIVE).check_url(address)

    @pytest.mark.parametrize(
        "address",
        ["http://print.example/", "https://other.print.example/", "https://93.184.215.14/"],
    )
    def test_others_are_not(self, tmp_path: Path, address: str) -> None:
        guard_of(tmp_path, LIVE).check_url(address)

    @pytest.mark.parametrize("address", ["https://localhost:8443/", "https://127.0.0.1:8443/"])
    def test_is_refused_in_a_sandbox_too(self, tmp_path: Path, address: str) -> None:
        with pytest.raises(BadAddress, match="this service itself"):
            guard_of(tmp_path, {}).check_url(address)

    def test_gets_no_socket_on_this_machine(self, tmp_path: Path) -> None:
        guard = guard_of(tmp_path, {"PORT": "5000"})

        assert not may_reach(guard, "127.0.0.1", 5000)
        assert may_reach(guard, "127.0.0.1", 5001)

    def test_gets_no_socket_where_its_name_leads(self, monkeypatch: pytest.MonkeyPatch) -> None:
        found = answers(["93.184.215.14"], 443)
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        own = OwnAddress("print.example", frozenset({443}))
        own.look_up()

        assert not may_reach(Guard(own=own), "93.184.215.14", 443)
        assert may_reach(Guard(own=own), "93.184.215.14", 80)
        assert may_reach(Guard(own=own), "93.184.215.15", 443)

    def test_a_name_that_leads_nowhere_is_no_reason_to_fail(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise socket.gaierror

        monkeypatch.setattr(socket, "getaddrinfo", fail)
        own = OwnAddress("print.example", frozenset({443}))
        own.look_up()

        assert may_reach(Guard(own=own), "93.184.215.14", 443)


class TestAllowedNetworks:
    def test_are_open_on_every_port(self, tmp_path: Path) -> None:
        guard = guard_of(
            tmp_path, {**LIVE, "OUTBOUND_ALLOW_NETWORKS": "10.1.0.0/16, fd12::/48,192.168.0.5"}
        )

        assert may_reach(guard, "10.1.255.255", 8080)
        assert may_reach(guard, "fd12::9", 22)
        assert may_reach(guard, "192.168.0.5", 9000)

    @pytest.mark.parametrize("address", ["10.2.0.0", "192.168.0.6", "::ffff:10.1.0.1", "127.0.0.1"])
    def test_open_nothing_else(self, address: str) -> None:
        guard = Guard([ip_network("10.1.0.0/16"), ip_network("192.168.0.5/32")])

        assert not may_reach(guard, address, 80)

    @pytest.mark.parametrize("address", ["169.254.169.254", "100.100.100.200", "fd00:ec2::254"])
    def test_never_open_a_metadata_service(self, address: str) -> None:
        guard = Guard([ip_network("0.0.0.0/0"), ip_network("::/0")])

        assert not may_reach(guard, address, 80)

    @pytest.mark.parametrize(
        "value", ["x", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/8;", "10.0.0.0/8,", "10", "print.lan"]
    )
    def test_a_wrong_value_is_explained_in_one_sentence(self, tmp_path: Path, value: str) -> None:
        with pytest.raises(BadSetting) as refused:
            guard_of(tmp_path, {"OUTBOUND_ALLOW_NETWORKS": value})

        assert str(refused.value) == (
            "PRINTWORKS_OUTBOUND_ALLOW_NETWORKS must be networks with commas between them, "
            f"such as `10.1.0.0/16, fd12::/48`, not {value!r}."
        )

    @pytest.mark.parametrize("value", ["7", '["10.0.0.0/8"]', "true"])
    def test_a_value_of_another_kind_is_refused(self, tmp_path: Path, value: str) -> None:
        (tmp_path / "printworks.toml").write_text(f"outbound_allow_networks = {value}\n")

        with pytest.raises(BadSetting, match="must be networks with commas between them"):
            Settings.load(tmp_path, {})


class TestAddressesThatAreGiven:
    """Without asking a name server: only what no answer of it could change is refused."""

    @pytest.mark.parametrize(
        "url", ["http://shop.example/", "https://shop.example:80/", "https://93.184.215.14/x"]
    )
    def test_one_that_may_work_passes(self, url: str) -> None:
        Guard().check_url(url)

    @pytest.mark.parametrize("address", [*FORBIDDEN_4, *FORBIDDEN_6])
    def test_one_in_a_forbidden_network_is_not_public(self, address: object) -> None:
        host = str(address).partition("/")[0]
        url = f"https://[{host}]/" if ":" in host else f"https://{host}/"

        with pytest.raises(BadAddress, match="not public"):
            Guard().check_url(url)

    @pytest.mark.parametrize("url", ["https://shop.example:8080/", "http://93.184.215.14:22/"])
    def test_another_port_is_refused(self, url: str) -> None:
        with pytest.raises(BadAddress, match="must be 80 or 443"):
            Guard().check_url(url)

    @pytest.mark.parametrize(
        "url", ["http://localhost:3000/", "http://a.LOCALHOST.:1/", "http://x:9/"]
    )
    def test_a_sandbox_on_this_machine_may_use_its_own(self, url: str) -> None:
        Guard(allow_loopback=True).check_url(url)

    def test_allowed_networks_have_any_port_but_never_metadata(self) -> None:
        guard = Guard([ip_network("169.254.0.0/16"), ip_network("10.0.0.0/8")])

        guard.check_url("http://10.1.2.3:8080/")
        with pytest.raises(BadAddress, match="not public"):
            guard.check_url("http://169.254.169.254/")
