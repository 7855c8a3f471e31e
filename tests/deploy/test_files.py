"""The files of `deploy` say what the program understands, and hold to the rules of a live shop."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from printworks import __version__
from printworks.cli.app import PLACES
from printworks.cli.live_checks import LIVE_CHECKS
from printworks.setting_values import OF_COMMANDS, PREFIX
from printworks.settings import SETTINGS, Settings
from printworks.vault import read_keys
from printworks.web.server import SOCKET_MODE

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
PAGE: Final = ROOT / "docs" / "operate" / "production.md"
UNITS: Final = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS: Final = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
CONFIGURATIONS: Final = [DEPLOY / "nginx" / "printworks.conf", DEPLOY / "kubernetes" / "nginx.conf"]
EVERY_FILE: Final = [
    *(path for path in DEPLOY.rglob("*") if path.is_file()),
    ROOT / "Dockerfile",
    ROOT / "compose.yaml",
]


@pytest.mark.parametrize("file", EVERY_FILE, ids=lambda file: file.name)
def test_every_setting_in_them_exists(file: Path) -> None:
    named = {name.lower() for name in re.findall(r"\bPRINTWORKS_([A-Z0-9_]+)", file.read_text())}
    secret = {f"{name}_file" for name, setting in SETTINGS.items() if setting.is_secret}
    of_commands = {name.removeprefix(PREFIX).lower() for name in OF_COMMANDS}

    assert named - SETTINGS.keys() - secret - of_commands == set()


def test_the_command_passes_on_what_commands_read() -> None:
    text = (DEPLOY / "systemd" / "printworks").read_text()

    [preserved] = re.findall(r"--preserve-env=(\S+)", text)

    assert {*preserved.split(",")} == OF_COMMANDS


def read_unit(file: Path) -> dict[str, list[str]]:
    """Return the values of a unit by their names."""
    unit: dict[str, list[str]] = {}
    for line in file.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            unit.setdefault(name, []).append(value)
    return unit


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_units_leave_the_services_little_but_their_jail(file: Path) -> None:
    unit = read_unit(file)
    allowed = " ".join(value for value in unit["SystemCallFilter"] if value[0] != "~").split()
    forbidden = " ".join(value for value in unit["SystemCallFilter"] if value[0] == "~")

    assert unit["User"] == ["printworks"]
    assert unit["CapabilityBoundingSet"] == [""]
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["NoNewPrivileges"] == unit["RestrictNamespaces"] == ["yes"]
    # What the jail of pictures calls; without one of them no picture can be printed.
    assert {"capset", "seccomp", "@system-service"} <= {*allowed}
    assert sum(call.startswith("landlock_") for call in allowed) == 3
    assert not re.search(r"@(privileged|process|resources|sandbox)|capset", forbidden)


@pytest.mark.parametrize("file", UNITS, ids=lambda file: file.name)
def test_units_start_commands_that_exist(file: Path) -> None:
    [started] = read_unit(file)["ExecStart"]

    program, command = started.split()

    assert program == "/opt/printworks/current/bin/printworks"
    assert command in PLACES


def test_services_may_write_to_the_places_that_the_pages_name() -> None:
    labs, pictures = (
        set(re.findall(rf"^{name}=(/\S+)$", (PAGE.parent / page).read_text(), re.MULTILINE))
        for name, page in (("PRINTWORKS_LAB_FOLDER", "labs.md"), ("PRINTWORKS_FILES", "files.md"))
    )
    assert labs
    assert pictures

    # A place that is not there must not keep a service from its start.
    for name, needed in (("web", pictures), ("work", labs | pictures)):
        unit = read_unit(DEPLOY / "systemd" / f"printworks-{name}@.service")
        assert {f"-{place}" for place in needed} == {*" ".join(unit["ReadWritePaths"]).split()}


def test_a_stop_may_take_as_long_as_the_program_needs() -> None:
    needed = SETTINGS["stop_timeout"].default.total_seconds() + 2
    for name in ("web", "work"):
        [seconds] = read_unit(DEPLOY / "systemd" / f"printworks-{name}@.service")["TimeoutStopSec"]
        assert int(seconds) > needed


@pytest.mark.parametrize(
    ("heading", "order"),
    [
        ("Upgrade", ["migrate", "work@1", "web@1", "web@2"]),
        ("Go back", ["web@1", "web@2", "work@1"]),
    ],
)
def test_services_are_restarted_one_after_the_other(heading: str, order: list[str]) -> None:
    text = (PAGE.parent / "upgrading.md").read_text()
    section = text[text.index(f"## {heading}\n") :].split("\n## ")[0]

    restarted = re.findall(r"^sudo systemctl restart (.+?) *(?:#.*)?$", section, re.MULTILINE)

    assert restarted == [f"printworks-{name}" for name in order]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_understands_the_units() -> None:
    checked = subprocess.run(
        ["systemd-analyze", "verify", *UNITS, DEPLOY / "systemd" / "printworks.target"],
        capture_output=True,
        text=True,
    )

    complaints = [line for line in checked.stderr.splitlines() if "printworks" in line]
    assert [line for line in complaints if "is not executable" not in line] == []


@pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
@pytest.mark.parametrize("file", CONFIGURATIONS, ids=lambda file: file.parent.name)
def test_nginx_understands_its_configuration(file: Path, tmp_path: Path) -> None:
    make = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    key: list[str | Path] = [
        *make,
        "-nodes",
        "-subj",
        "/CN=a",
        "-keyout",
        tmp_path / "key",
        "-out",
        tmp_path / "cert",
    ]
    subprocess.run(key, check=True, capture_output=True)
    text = re.sub(r"(ssl_certificate) \S+;", rf"\1 {tmp_path}/cert;", file.read_text())
    text = re.sub(r"(ssl_certificate_key) \S+;", rf"\1 {tmp_path}/key;", text)
    (tmp_path / "site.conf").write_text(text)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; include {tmp_path}/site.conf; }}\n"
    )

    checked = subprocess.run(
        ["nginx", "-t", "-p", tmp_path, "-c", tmp_path / "nginx.conf"],
        capture_output=True,
        text=True,
    )

    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr


@pytest.mark.parametrize("file", CONFIGURATIONS, ids=lambda file: file.parent.name)
def test_nginx_passes_on_what_the_program_relies_on(file: Path) -> None:
    text = file.read_text()

    [largest] = re.findall(r"client_max_body_size (\d+)m;", text)
    assert int(largest) * 1024 * 1024 > SETTINGS["upload_limit"].default
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in text
    assert "proxy_request_buffering off;" in text
    assert "$proxy_add_x_forwarded_for" not in text


def read_dockerfile() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in lines]


def test_the_image_is_pinned_and_without_root() -> None:
    lines = read_dockerfile()
    last_stage = max(number for number, (word, _) in enumerate(lines) if word == "FROM")
    final = dict(lines[last_stage:])

    bases = [value.split()[0] for word, value in lines if word == "FROM"]
    assert all(re.fullmatch(r"[a-z/]+:\d+\.\d+\S*", base) for base in bases)
    assert final["USER"] == "10001:10001"
    assert final["ENTRYPOINT"] == '["printworks"]'
    assert "HEALTHCHECK" in final
    assert "sbom.cdx.json" in (ROOT / "Dockerfile").read_text()


def test_every_package_in_the_image_is_one_that_was_locked() -> None:
    installs = [
        value for word, value in read_dockerfile() if word == "RUN" and "pip install" in value
    ]

    assert len(installs) == 2
    assert all("--require-hashes" in each or "--no-deps" in each for each in installs)
    assert not any("index-url" in each or "://" in each for each in installs)


def test_what_the_image_is_built_from_is_not_ignored() -> None:
    sent = (ROOT / ".dockerignore").read_text().splitlines()
    copied = [
        source
        for word, value in read_dockerfile()
        if word == "COPY" and "--from" not in value
        for source in shlex.split(value)[:-1]
    ]

    assert sent[1] == "*"
    for source in copied:
        assert (ROOT / source).exists()
        assert any(line.startswith(f"!{source}") for line in sent), source


def read_compose() -> Mapping[str, Any]:
    found = yaml.safe_load((ROOT / "compose.yaml").read_text())
    assert isinstance(found, dict)
    return found


def list_own_services() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, service in read_compose()["services"].items():
        if service["image"].startswith("printworks:"):
            yield name, service


def fill_in(value: str) -> str:
    """Put something in the place of each variable, as Compose does."""
    return re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?}", _choose, value)


def _choose(variable: re.Match[str]) -> str:
    if variable[2] == "-":
        return variable[3]
    return "https://print.example" if variable[1] == "PUBLIC_URL" else "secret"


def test_the_settings_of_the_containers_are_those_of_a_live_shop(tmp_path: Path) -> None:
    for name, service in list_own_services():
        given = {name: fill_in(value) for name, value in service["environment"].items()}
        assert Settings.load(tmp_path, given).environment == "live", name


def test_containers_cannot_change_themselves() -> None:
    for name, service in list_own_services():
        assert service["image"] == f"printworks:{__version__}", name
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["user"].startswith("10001:"), name
        assert service["command"][0] in PLACES, name


def test_the_proxy_of_the_containers_may_open_the_sockets() -> None:
    services = read_compose()["services"]
    sockets = "sockets:/run/printworks"
    listening = {
        name for name, service in services.items() if sockets in service.get("volumes", [])
    }

    assert listening == {"web-1", "web-2", "proxy"}
    # Its workers are the user and the group 101, and their master gives up all other groups.
    assert services["proxy"]["image"].startswith("nginx:")
    assert all(services[name]["user"] == "10001:101" for name in listening - {"proxy"})
    assert SOCKET_MODE & 0o060 == 0o060


def test_everything_that_compose_names_exists() -> None:
    compose = read_compose()
    example = (DEPLOY / "compose" / "environment.example").read_text()
    for name, service in compose["services"].items():
        assert {*service.get("depends_on", [])} <= compose["services"].keys(), name
        assert {*service["networks"]} <= compose["networks"].keys(), name
        volumes = {volume.split(":")[0] for volume in service.get("volumes", [])}
        named = {volume for volume in volumes if not volume.startswith(".")}
        assert named <= compose["volumes"].keys(), name
        assert re.fullmatch(r"[a-z/]+:\d+\.\d+\S*", service["image"]), name
    asked = set(re.findall(r"\$\{(\w+)", (ROOT / "compose.yaml").read_text()))
    assert asked == set(re.findall(r"^(\w+)=", example, re.MULTILINE))


def list_pods() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for file in MANIFESTS:
        for manifest in yaml.safe_load_all(file.read_text()):
            if "template" in manifest.get("spec", {}):
                yield manifest["metadata"]["name"], manifest["spec"]["template"]["spec"]


def test_pods_are_restricted() -> None:
    pods = dict(list_pods())
    assert pods.keys() == {"printworks-web", "printworks-work", "printworks-migrate"}
    for name, pod in pods.items():
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert pod["automountServiceAccountToken"] is False, name
        for container in pod["containers"]:
            locked = container["securityContext"]
            assert locked["readOnlyRootFilesystem"] is True, name
            assert locked["allowPrivilegeEscalation"] is False, name
            assert locked["capabilities"] == {"drop": ["ALL"]}, name
            assert "memory" in container["resources"]["limits"], name
            mounted = {mount["name"] for mount in container["volumeMounts"]}
            assert mounted <= {volume["name"] for volume in pod["volumes"]}, name


def test_no_service_of_the_cluster_looks_like_a_setting() -> None:
    for name, pod in list_pods():
        # Else pods have PRINTWORKS_PORT=tcp://… for the service `printworks`, and do not start.
        assert pod["enableServiceLinks"] is False, name


def test_the_settings_of_the_pods_are_those_of_a_live_shop(tmp_path: Path) -> None:
    lines = (DEPLOY / "kubernetes" / "settings.env").read_text().splitlines()

    settings = Settings.load(tmp_path, dict(line.split("=", 1) for line in lines))

    assert settings.environment == "live"


def test_kustomize_finds_its_files_and_the_version() -> None:
    folder = DEPLOY / "kubernetes"
    found = yaml.safe_load((folder / "kustomization.yaml").read_text())

    assert all((folder / name).exists() for name in found["resources"])
    assert found["images"][0]["newTag"] == __version__


def test_the_command_for_a_secret_key_makes_one(tmp_path: Path) -> None:
    text = (DEPLOY / "kubernetes" / "kustomization.yaml").read_text()
    [command] = re.findall(r"^#   (echo .+ > secret\.key)$", text, re.MULTILINE)

    # Some keys have no letter that only one of the two alphabets knows.
    for _ in range(10):
        subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
        assert len(read_keys(tmp_path / "secret.key")) == 1


def test_the_page_names_settings_and_checks_that_exist() -> None:
    text = PAGE.read_text()
    table = text[text.index("| setting |") : text.index("## More machines")]
    rows = [row.split("|")[1:4] for row in table.splitlines() if row.startswith("| `")]

    for first, _, last in rows:
        for name in re.findall(r"`([a-z0-9_]+…?)`", first):
            matching = [one for one in SETTINGS if re.fullmatch(name.replace("…", ".+"), one)]
            assert matching, name
        assert {check.strip() for check in last.split(",")} <= {"", *LIVE_CHECKS, *_OTHER_CHECKS}
    said = table + text[text.index("## What a live shop") :]
    assert [check for check in LIVE_CHECKS if check not in said] == []


_OTHER_CHECKS: Final = {
    "TLS",
    "durability",
    "schema",
    "files",
    "secrets",
    "labs",
    "mail",
    "callbacks",
    "disk",
}


def test_the_page_installs_this_version() -> None:
    versions = set(re.findall(r"printworks[-/:](\d+\.\d+\.\d+)", PAGE.read_text()))

    assert versions == {__version__}
