"""Reads and validates the values of settings from the file and the environment.

`setting_places.py` and `setting_table.py` declare the settings.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import timedelta
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

PREFIX: Final = "PRINTWORKS_"
FILE_NAME: Final = "printworks.toml"
# What commands themselves read: where the settings are, and where `copy` writes to.
OF_COMMANDS: Final = frozenset({f"{PREFIX}DATA", f"{PREFIX}COPY_TO"})

# Marks a setting that is never shown, and may be given as a file.
SECRET: Final = Meta(extra={"secret": True})
Networks = tuple[IPv4Network | IPv6Network, ...]


class BadSetting(Exception):
    """A setting is wrong; the message says which, where it came from and what is allowed."""


class Setting(NamedTuple):
    """One line of the reference."""

    name: str
    kind: Any
    default: Any
    description: str
    is_secret: bool


Declared = Mapping[str, Setting]


class Given(NamedTuple):
    """A value that was set, and where."""

    name: str
    value: Any
    source: str


_ADDRESS: Final = (
    r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9.-]{1,253}",
    "an email address such as `service@print.example`",
)
# The pattern of a text, and its description.
_FORMS: Final[Mapping[str, tuple[str, str]]] = {
    "host": (r"[A-Za-z0-9.:_-]+", "a host name or an IP address without a port"),
    "metrics_host": (r"[A-Za-z0-9.:_-]+", "a host name or an IP address without a port"),
    "traces_endpoint": (r"https?://[!-~]+", "an address that begins with `http`"),
    "watchdog_url": (r"https?://[!-~]+", "an address that begins with `http`"),
    "public_url": (
        r"https://[^/\s?#]+/?",
        "an address such as `https://print.example` without a path",
    ),
    "database_url": (
        # As SQLAlchemy takes it apart: who@ host :port /name ?options. A password has no bare @ in it.
        r"sqlite:///.+|postgres(ql)?(\+psycopg)?://(?=\S)([^:/\s]*(:[^@\s]*)?@)?"
        r"(\[[^]/?\s]+\]|[^/:?@\s]*)(:[0-9]{0,5})?(/[^?\s]*)?(\?\S*)?",
        "an address such as `sqlite:////path/to/file` or `postgresql://user:password@host:5432/name`, "
        "with special characters written as `%40`",
    ),
    "files": (
        r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9][A-Za-z0-9._-]*)*/?"
        r"|(?![A-Za-z0-9+.-]+://).+",
        "a path or an address such as `s3://bucket/folder`",
    ),
    "s3_endpoint": (
        r"https?://[^/\s?#@]+/?",
        "an address such as `https://s3.example:9000` without a path",
    ),
    "s3_region": (r"[A-Za-z0-9-]+", "letters, digits and hyphens"),
    "s3_access_key_id": (r"\S+", "text without blanks"),
    "s3_secret_access_key": (r"\S+", "text without blanks"),
    "behind_proxy": (
        r"unix:.+|(127\.[0-9.]+|localhost|\[::1\]):[0-9]{1,5}",
        "`unix:/path/to.sock` or a loopback address such as `127.0.0.1:8080`",
    ),
    "smtp_host": (r"[A-Za-z0-9.:_-]+", "a host name or an IP address without a port"),
    "smtp_user": (r"[!-~]+", "text without blanks"),
    "smtp_password": (r"[ -~]+", "printable ASCII characters"),
    "mail_from": _ADDRESS,
    "mail_reply_to": _ADDRESS,
    "header_prefix": (r"[A-Za-z][A-Za-z0-9-]*", "letters, digits and hyphens"),
    "stripe_secret_key": (r"\S+", "a key that begins with `sk_` or `rk_`"),
    "stripe_webhook_secret": (r"\S+", "text that begins with `whsec_`"),
}


def list_settings(declaration: type[msgspec.Struct]) -> dict[str, Setting]:
    """Describe every field of the class that declares the settings.

    The last mark of its type is its description.
    """
    defaults = {field.name: field.default for field in msgspec.structs.fields(declaration)}
    settings = {}
    for name, hint in get_type_hints(declaration, include_extras=True).items():
        *marks, description = hint.__metadata__
        settings[name] = Setting(name, hint, defaults[name], description, SECRET in marks)
    return settings


def read_values(declared: Declared, data: Path, environ: Mapping[str, str]) -> dict[str, Any]:
    """Read what is set in the data folder and the environment; raise `BadSetting` if wrong."""
    given = (*_from_file(declared, data), *_from_environment(declared, environ))
    return {each.name: _read(each, declared[each.name], data) for each in given}


def read_value(setting: Setting, value: str, *, source: str, data: Path) -> Any:
    """Read what an option gives in the place of a setting; raise `BadSetting` if it is wrong."""
    return _read(Given(setting.name, value, source), setting, data)


def parse_duration(text: str) -> timedelta:
    """Read `30s`, `10m`, `24h` or `30d`; `0` needs no unit. Raise `ValueError` otherwise."""
    units = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    if text == "0":
        return timedelta(0)
    found = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if found is None:
        raise ValueError(f"{text!r} is not a duration such as 30s, 10m, 24h or 30d.")
    return timedelta(**{units[found[2]]: int(found[1])})


def format_duration(duration: timedelta) -> str:
    """Format a duration as `parse_duration` reads it."""
    seconds = int(duration.total_seconds())
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def _from_file(declared: Declared, data: Path) -> Iterator[Given]:
    path = data / FILE_NAME
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(f"{path} cannot be read: {error}.") from error
    for name, value in content.items():
        if name == "data" or name not in declared:
            message = f"{path} sets `{name}`, which is not a setting{_suggest(name, declared)}."
            raise BadSetting(message)
        yield Given(name, value, f"`{name}` in {path}")


def _from_environment(declared: Declared, environ: Mapping[str, str]) -> Iterator[Given]:
    for variable, value in environ.items():
        # An empty variable is how compose files and unit files say "not set".
        if not variable.startswith(PREFIX) or variable in OF_COMMANDS or value == "":
            continue
        name = variable.removeprefix(PREFIX).lower()
        plain = name.removesuffix("_file")
        if name in declared:
            yield Given(name, value, variable)
        elif plain in declared and declared[plain].is_secret:
            if environ.get(f"{PREFIX}{plain.upper()}"):
                message = f"{PREFIX}{plain.upper()} and {variable} are both set; keep one of them."
                raise BadSetting(message)
            yield Given(plain, _read_secret(variable, value), variable)
        else:
            raise BadSetting(f"{variable} is not a setting{_suggest(name, declared)}.")


def _read_secret(variable: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"{variable} names a file that cannot be read: {error}.") from error


def _suggest(name: str, declared: Declared) -> str:
    close = get_close_matches(name, declared, n=1)
    return f" (`{close[0]}` is)" if close else " (docs/operate/settings.md lists them)"


def _read(given: Given, setting: Setting, data: Path) -> Any:
    try:
        value = _convert(given.value, setting.kind)
        _check_form(given.name, value)
    except (msgspec.ValidationError, ValueError, TypeError) as error:
        shown = "" if setting.is_secret else f", not {given.value!r}"
        raise BadSetting(f"{given.source} must be {describe_allowed(setting)}{shown}.") from error
    return data / value if isinstance(value, Path) else _tidy(given.name, value)


def _convert(value: Any, kind: Any) -> Any:
    if _plain(kind) == Networks:
        return tuple(ip_network(part.strip()) for part in msgspec.convert(value, str).split(","))
    if _plain(kind) is int:
        # The bounds are those of the number, also where there may be none.
        return msgspec.convert(value, Annotated[int, _find_bounds(kind)], strict=False)
    if _plain(kind) is not timedelta:
        return msgspec.convert(value, kind, strict=False, dec_hook=_path)
    duration = parse_duration(value)
    if not duration:
        raise ValueError("A duration must be longer than 0.")
    return duration


def _path(kind: type, value: Any) -> Any:
    return kind(value)


def _plain(kind: Any) -> Any:
    plain = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    # A setting that may be missing.
    return get_args(plain)[0] if isinstance(plain, UnionType) else plain


def _find_bounds(kind: Any) -> Meta:
    return next(mark for mark in kind.__metadata__ if isinstance(mark, Meta))


def _check_form(name: str, value: Any) -> None:
    if name in _FORMS and not re.fullmatch(_FORMS[name][0], value):
        raise ValueError(name)


def _tidy(name: str, value: Any) -> Any:
    if name in {"public_url", "files", "s3_endpoint"}:
        return value.rstrip("/") or "/"
    if name == "database_url":
        # Without the driver's name SQLAlchemy might choose one that is not installed.
        return re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", value)
    return value


def describe_allowed(setting: Setting) -> str:
    if setting.name in _FORMS:
        return _FORMS[setting.name][1]
    plain = _plain(setting.kind)
    if get_origin(plain) is Literal:
        words = [f"`{word}`" for word in get_args(plain)]
        return f"{', '.join(words[:-1])} or {words[-1]}"
    if plain is int:
        bounds = _find_bounds(setting.kind)
        return f"a whole number from {bounds.ge} to {bounds.le}"
    return {
        bool: "`true` or `false`",
        timedelta: "a duration such as 30s, 10m, 24h or 30d",
        Path: "a path",
        Networks: "networks with commas between them, such as `10.1.0.0/16, fd12::/48`",
        str: "text of 1 to 100 characters",
    }[plain]
