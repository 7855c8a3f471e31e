"""What an operator can change, read once at the start.

A value comes from `PRINTWORKS_<NAME>` in the environment, else from `printworks.toml` in
the data folder, else from the default here. The reference in `docs/operate/settings.md` is
written from this file.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import timedelta
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    Self,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta

PREFIX: Final = "PRINTWORKS_"
FILE_NAME: Final = "printworks.toml"

Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Port = Annotated[int, Meta(ge=1, le=65535)]
Networks = tuple[IPv4Network | IPv6Network, ...]


class BadSetting(Exception):
    """A setting is wrong; the message says which, where it came from and what is allowed."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything an operator can change. Make one with `Settings.load`."""

    data: Annotated[Path, Meta(description="The folder in which everything lives (`--data`).")]
    environment: Annotated[
        Literal["sandbox", "live"],
        Meta(description="`sandbox` prints nothing and charges nothing; `live` does both."),
    ] = "sandbox"
    host: Annotated[str, Meta(description="The address to listen on.")] = "127.0.0.1"
    port: Annotated[Port, Meta(description="The port to listen on, HTTPS only.")] = 8443
    public_url: Annotated[
        str,
        Meta(description="The address that merchants use; by default `https://localhost:<port>`."),
    ] = ""
    database_url: Annotated[
        str,
        Meta(
            description="`sqlite:////path/to/file` or `postgresql://user:password@host/name`; "
            "by default `printworks.db` in the data folder.",
            extra={"secret": True},
        ),
    ] = ""
    tls_cert: Annotated[
        Path | None,
        Meta(description="Certificate chain (PEM); without it a local CA makes one."),
    ] = None
    tls_key: Annotated[
        Path | None, Meta(description="Private key (PEM) that belongs to `tls_cert`.")
    ] = None
    behind_proxy: Annotated[
        str,
        Meta(
            description="Listen here in plain HTTP, for a proxy on this machine that speaks TLS: "
            "`unix:/path/to.sock` or `127.0.0.1:8080`."
        ),
    ] = ""
    header_prefix: Annotated[
        str,
        Meta(description="How the names of the credential headers begin (`...MerchantId`)."),
    ] = "X-Service-"
    catalogue_name: Annotated[
        str, Meta(min_length=1, max_length=100, description="What the catalogue is called.")
    ] = "service direct"
    catalogue: Annotated[
        Path | None,
        Meta(description="A folder with your own catalogue, in place of the one that is built in."),
    ] = None
    web_processes: Annotated[
        Annotated[int, Meta(ge=1, le=256)],
        Meta(description="Processes that answer requests: one goes on while another restarts."),
    ] = 2
    web_bind_cores: Annotated[
        bool,
        Meta(description="Keep the threads of each web process on one core (Linux); quicker."),
    ] = True
    web_threads: Annotated[
        Annotated[int, Meta(ge=1, le=256)],
        Meta(description="Requests that each process works on at the same time."),
    ] = 4
    web_queue: Annotated[
        Count, Meta(description="Requests that may wait for a thread before others get 503.")
    ] = 256
    worker_slots: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)],
        Meta(description="Jobs that a worker runs at the same time."),
    ] = 32
    worker_lease: Annotated[
        timedelta, Meta(description="After how long a dead worker's jobs go to another.")
    ] = timedelta(seconds=30)
    body_timeout: Annotated[
        timedelta, Meta(description="How long a request body may stall before it gets 408.")
    ] = timedelta(seconds=10)
    request_timeout: Annotated[
        timedelta, Meta(description="How long a whole request body may take.")
    ] = timedelta(seconds=60)
    json_limit: Annotated[Count, Meta(description="Largest JSON or form body, in bytes.")] = (
        1_000_000
    )
    upload_limit: Annotated[
        Count, Meta(description="Largest body with a file in it, in bytes.")
    ] = 100_000_000
    outbound_allow_networks: Annotated[
        Networks,
        Meta(description="Networks that images and callbacks may use although not public."),
    ] = ()
    stop_timeout: Annotated[
        timedelta, Meta(description="How long a stop waits for requests and jobs in flight.")
    ] = timedelta(seconds=20)
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="The least important message that is still logged."),
    ] = "info"
    log_format: Annotated[
        Literal["auto", "console", "json"],
        Meta(description="`auto` is `console` on a terminal and `json` elsewhere."),
    ] = "auto"
    keep_idempotency_keys: Annotated[
        timedelta, Meta(description="How long the answer to an `Idempotency-Key` is kept.")
    ] = timedelta(days=30)
    keep_finished_jobs: Annotated[
        timedelta, Meta(description="How long jobs that are done can still be looked at.")
    ] = timedelta(days=7)

    @classmethod
    def load(cls, data: Path, environ: Mapping[str, str]) -> Self:
        """Read the settings of a data folder; raise `BadSetting` if one is wrong."""
        data = data.absolute()
        values: dict[str, Any] = {"data": data}
        for given in (*_from_file(data), *_from_environment(environ)):
            values[given.name] = _read(given, data)
        settings = cls(**values)
        _check_combinations(settings)
        return msgspec.structs.replace(
            settings,
            public_url=settings.public_url or _usual_public_url(settings),
            database_url=settings.database_url or f"sqlite:///{data / 'printworks.db'}",
        )

    def __repr__(self) -> str:
        """Show no secret: a repr ends up in tracebacks."""
        return f"Settings(data={str(self.data)!r})"


class Setting(NamedTuple):
    """One line of the reference."""

    name: str
    kind: Any
    default: Any
    description: str
    is_secret: bool


class Given(NamedTuple):
    """A value that somebody set, and where."""

    name: str
    value: Any
    source: str


def _list_settings() -> dict[str, Setting]:
    defaults = {field.name: field.default for field in msgspec.structs.fields(Settings)}
    settings = {}
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        metas = [extra for extra in hint.__metadata__ if isinstance(extra, Meta)]
        description = next(meta.description for meta in metas if meta.description)
        secret = any(meta.extra and meta.extra.get("secret") for meta in metas)
        settings[name] = Setting(name, hint, defaults[name], description, secret)
    return settings


SETTINGS: Final[Mapping[str, Setting]] = _list_settings()


def parse_duration(text: str) -> timedelta:
    """Read `30s`, `10m`, `24h` or `30d`; `0` needs no unit. Raise `ValueError` otherwise."""
    units = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    if text == "0":
        return timedelta(0)
    found = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if found is None:
        message = f"{text!r} is not a duration such as 30s, 10m, 24h or 30d."
        raise ValueError(message)
    return timedelta(**{units[found[2]]: int(found[1])})


def format_duration(duration: timedelta) -> str:
    """Write a duration as `parse_duration` reads it."""
    seconds = int(duration.total_seconds())
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def _parse_networks(text: str) -> Networks:
    return tuple(ip_network(part.strip()) for part in text.split(","))


def _from_file(data: Path) -> Iterator[Given]:
    path = data / FILE_NAME
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        message = f"{path} cannot be read: {error}."
        raise BadSetting(message) from error
    for name, value in content.items():
        if name == "data" or name not in SETTINGS:
            message = f"{path} sets `{name}`, which is not a setting{_suggest(name)}."
            raise BadSetting(message)
        yield Given(name, value, f"`{name}` in {path}")


def _from_environment(environ: Mapping[str, str]) -> Iterator[Given]:
    for variable, value in environ.items():
        # An empty variable is how compose files and unit files say "not set".
        if not variable.startswith(PREFIX) or variable == f"{PREFIX}DATA" or value == "":
            continue
        name = variable.removeprefix(PREFIX).lower()
        plain = name.removesuffix("_file")
        if name in SETTINGS:
            yield Given(name, value, variable)
        elif plain in SETTINGS and SETTINGS[plain].is_secret:
            if environ.get(f"{PREFIX}{plain.upper()}"):
                message = f"{PREFIX}{plain.upper()} and {variable} are both set; keep one of them."
                raise BadSetting(message)
            yield Given(plain, _read_secret(variable, value), variable)
        else:
            message = f"{variable} is not a setting{_suggest(name)}."
            raise BadSetting(message)


def _read_secret(variable: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{variable} names a file that cannot be read: {error}."
        raise BadSetting(message) from error


def _suggest(name: str) -> str:
    close = get_close_matches(name, SETTINGS, n=1)
    return f" (`{close[0]}` is)" if close else " (docs/operate/settings.md lists them)"


def _read(given: Given, data: Path) -> Any:
    setting = SETTINGS[given.name]
    try:
        value = _convert(given.value, setting.kind)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        shown = "" if setting.is_secret else f", not {given.value!r}"
        message = f"{given.source} must be {describe_allowed(setting)}{shown}."
        raise BadSetting(message) from error
    if isinstance(value, Path):
        return data / value
    return _check_form(given, value)


def _convert(value: Any, kind: Any) -> Any:
    if _plain(kind) == Networks:
        return _parse_networks(msgspec.convert(value, str))
    if _plain(kind) is not timedelta:
        return msgspec.convert(value, kind, strict=False, dec_hook=_path)
    duration = parse_duration(value)
    if not duration:
        message = "A wait or a limit of nothing makes no sense."
        raise ValueError(message)
    return duration


def _path(kind: type, value: Any) -> Any:
    return kind(value)


def _plain(kind: Any) -> Any:
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return Path if isinstance(plain, UnionType) else plain


def describe_allowed(setting: Setting) -> str:
    """Say in words which values a setting takes."""
    if setting.name in _FORMS:
        return _FORMS[setting.name][1]
    plain = _plain(setting.kind)
    if get_origin(plain) is Literal:
        words = [f"`{word}`" for word in get_args(plain)]
        return f"{', '.join(words[:-1])} or {words[-1]}"
    if plain is int:
        metas = [meta for meta in setting.kind.__metadata__ if meta.ge is not None]
        return f"a whole number from {metas[0].ge} to {metas[0].le}"
    return {
        bool: "`true` or `false`",
        timedelta: "a duration such as 30s, 10m, 24h or 30d",
        Path: "a path",
        Networks: "networks with commas between them, such as `10.1.0.0/16, fd12::/48`",
        str: "text of 1 to 100 characters",
    }[plain]


_FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "host": (r"[A-Za-z0-9.:_-]+", "a host name or an IP address without a port"),
    "public_url": (
        r"https://[^/\s?#]+/?",
        "an address such as `https://print.example` without a path",
    ),
    "database_url": (
        r"sqlite:///.+|postgres(ql)?(\+psycopg)?://\S+",
        "an address that begins with `sqlite:///` or `postgresql://`",
    ),
    "behind_proxy": (
        r"unix:.+|(127\.[0-9.]+|localhost|\[::1\]):[0-9]{1,5}",
        "`unix:/path/to.sock` or a loopback address such as `127.0.0.1:8080`",
    ),
    "header_prefix": (r"[A-Za-z][A-Za-z0-9-]*", "letters, digits and hyphens"),
}


def _check_form(given: Given, value: Any) -> Any:
    if given.name not in _FORMS:
        return value
    pattern, allowed = _FORMS[given.name]
    if not re.fullmatch(pattern, value):
        shown = "" if SETTINGS[given.name].is_secret else f", not {value!r}"
        message = f"{given.source} must be {allowed}{shown}."
        raise BadSetting(message)
    if given.name == "public_url":
        return value.rstrip("/")
    # Without the driver's name SQLAlchemy might choose one that is not installed.
    return re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", value)


def _usual_public_url(settings: Settings) -> str:
    if settings.behind_proxy:
        return "https://localhost"
    near = {"127.0.0.1", "::1", "0.0.0.0", "::"}  # noqa: S104  (compared, not listened on)
    name = "localhost" if settings.host in near else settings.host
    return f"https://[{name}]:{settings.port}" if ":" in name else f"https://{name}:{settings.port}"


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach the address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_combinations(settings: Settings) -> None:
    proxied = bool(settings.behind_proxy)
    problems = {
        "`tls_cert` and `tls_key` belong together; set both or neither.": (
            (settings.tls_cert is None) != (settings.tls_key is None)
        ),
        "`behind_proxy` leaves TLS to the proxy; remove `tls_cert` and `tls_key`, or it.": (
            proxied and settings.tls_cert is not None
        ),
        "`behind_proxy` speaks plain HTTP, so `host` must stay a loopback address.": (
            proxied and not is_loopback(settings.host)
        ),
        "A live service needs `public_url`, the address that merchants use.": (
            settings.environment == "live" and not settings.public_url
        ),
        "`body_timeout` must not be longer than `request_timeout`.": (
            settings.body_timeout > settings.request_timeout
        ),
    }
    for sentence, is_wrong in problems.items():
        if is_wrong:
            raise BadSetting(sentence)
