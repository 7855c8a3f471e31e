"""The settings of a deployment, read once at the start.

A value comes from `PRINTWORKS_<NAME>` in the environment, else from `printworks.toml` in
the data folder, else from the default in their table.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Final, Self

import msgspec

from printworks.setting_table import DeclaredSettings
from printworks.setting_values import (
    BadSetting,
    Setting,
    describe_allowed,
    format_duration,
    list_settings,
    parse_duration,
    read_values,
)

__all__ = [
    "SETTINGS",
    "BadSetting",
    "Setting",
    "Settings",
    "describe_allowed",
    "format_duration",
    "is_in_s3",
    "is_loopback",
    "parse_duration",
]

_CONTACT: Final = re.compile(r"mailto:[^\s@]+@[^\s@]+|https://[!-~]+")
_PRINT_PATH: Final = re.compile(
    r"(?=.*\{image\}[^/]*$)(?!.*(^|/)\.)"
    r"([A-Za-z0-9._-]|\{(job|image|sku|size|copies|attribute:[A-Za-z0-9 ._-]+)\}|(?<=[^/])/(?=[^/]))+"
)
_REMINDER_DAYS: Final = re.compile(r" *[0-9]{1,3} *(, *[0-9]{1,3} *){0,8}")
_PASSWORD: Final = re.compile(r"[a-z+]+://[^:@/]*:(.+)@")
_STRIPE_KEY: Final = re.compile(r"(sk|rk)_(test|live)_\S+")
_SHORTEST_PAYMENT_ANSWER: Final = timedelta(minutes=10)
# All but the current version.
VERSIONS_THAT_MAY_END: Final = frozenset({"2.3", "2.5", "2.6"})
# Of people who sign in.
ROLES: Final = frozenset({"admin", "support", "production", "viewer", "owner"})


class Settings(DeclaredSettings, frozen=True, kw_only=True):
    """The settings of this deployment. Make them with `Settings.load`."""

    @classmethod
    def load(cls, data: Path, environ: Mapping[str, str]) -> Self:
        """Read the settings of a data folder; raise `BadSetting` if one is wrong."""
        data = data.absolute()
        settings = cls(data=data, **read_values(SETTINGS, data, environ))
        _check_combinations(settings)
        return msgspec.structs.replace(
            settings,
            public_url=settings.public_url or _default_public_url(settings),
            database_url=settings.database_url or f"sqlite:///{data / 'printworks.db'}",
            files=_find_files(settings),
        )

    @property
    def secret_keys(self) -> Path:
        """Where the keys are that encrypt the secrets in the database."""
        return self.secret_key_file or self.data / "secret.key"

    @property
    def secret_texts(self) -> tuple[str, ...]:
        """What must never be written: all secrets that are set, and the password of the database."""
        values = [getattr(self, name) for name, setting in SETTINGS.items() if setting.is_secret]
        password = _PASSWORD.match(self.database_url)
        found = [value for value in values if value and not value.startswith("sqlite:")]
        # A short password is hidden where it stands between the name and the host.
        return (*found, *([password[1], f":{password[1]}@"] if password else []))

    @property
    def time_to_stop(self) -> timedelta:
        """How long a web process may take to stop."""
        return self.stop_timeout + (self.drain_delay or timedelta(0))

    @property
    def sunset_at(self) -> datetime | None:
        """When the older versions end."""
        day = _read_day(self.sunset)
        return None if day is None else datetime.combine(day, time(), UTC)

    @property
    def versions_off_list(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.versions_off.split(",") if part.strip())

    @property
    def second_factor_roles(self) -> frozenset[str]:
        """Who must sign in with a second factor."""
        return frozenset(filter(None, map(str.strip, self.second_factor_for.split(","))))

    @property
    def reminder_steps(self) -> tuple[int, ...]:
        """How many days after the due date each reminder is sent."""
        return tuple(map(int, filter(None, self.reminder_days.replace(" ", "").split(","))))

    def __repr__(self) -> str:
        """Show no secrets: a repr appears in tracebacks."""
        return f"Settings(data={str(self.data)!r})"


SETTINGS: Final[Mapping[str, Setting]] = list_settings(Settings)


def _default_public_url(settings: Settings) -> str:
    if settings.behind_proxy:
        return "https://localhost"
    near = {"127.0.0.1", "::1", "0.0.0.0", "::"}  # noqa: S104  (compared, not listened on)
    name = "localhost" if settings.host in near else settings.host
    return f"https://[{name}]:{settings.port}" if ":" in name else f"https://{name}:{settings.port}"


def _find_files(settings: Settings) -> str:
    kept = settings.files
    return kept if is_in_s3(kept) else str(settings.data / (kept or "files"))


def is_in_s3(files: str) -> bool:
    """Return whether files are stored in S3, and not in a folder."""
    return files.startswith("s3://")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _check_combinations(settings: Settings) -> None:
    proxied = bool(settings.behind_proxy)
    problems = {
        "`tls_cert` and `tls_key` belong together; set both or neither.": (
            (settings.tls_cert is None) != (settings.tls_key is None)
        ),
        "`behind_proxy` leaves TLS to the proxy; remove `tls_cert` and `tls_key`, or it.": (
            proxied and settings.tls_cert is not None
        ),
        "`behind_proxy` uses plain HTTP, so `host` must stay a loopback address.": (
            proxied and not is_loopback(settings.host)
        ),
        "A live service needs `public_url`, the address that merchants use.": (
            settings.environment == "live" and not settings.public_url
        ),
        "`body_timeout` must not be longer than `request_timeout`.": (
            settings.body_timeout > settings.request_timeout
        ),
        "`security_contact` must be `mailto:` with an address, or an `https://` page.": (
            bool(settings.security_contact) and not _CONTACT.fullmatch(settings.security_contact)
        ),
        "`traces_endpoint` needs OpenTelemetry: install `printworks[traces]`.": (
            bool(settings.traces_endpoint) and not _has_opentelemetry()
        ),
        "`sunset` must be a day such as `2027-12-31`.": (
            bool(settings.sunset) and _read_day(settings.sunset) is None
        ),
        "`versions_off` can have 2.3, 2.5 and 2.6 in it, with commas between them.": (
            not {*settings.versions_off_list} <= VERSIONS_THAT_MAY_END
        ),
        "`second_factor_for` can have admin, support, production, viewer and owner in it, with "
        "commas between them.": not settings.second_factor_roles <= ROLES,
        "`lab_print_path` must be folders and a name with `{image}` in it, of letters, digits, "
        "`._-` and `{job}`, `{image}`, `{sku}`, `{size}`, `{copies}` or `{attribute:name}`.": (
            not _PRINT_PATH.fullmatch(settings.lab_print_path)
        ),
        "`s3_access_key_id` and `s3_secret_access_key` belong together; set both or neither.": (
            bool(settings.s3_access_key_id) != bool(settings.s3_secret_access_key)
        ),
    }
    problems |= _list_payment_problems(settings) | _list_mail_problems(settings)
    problems |= _list_image_problems(settings)
    for sentence, is_wrong in problems.items():
        if is_wrong:
            raise BadSetting(sentence)


def _has_opentelemetry() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.http") is not None
    except ModuleNotFoundError:
        return False


def _list_payment_problems(settings: Settings) -> dict[str, bool]:
    key, is_live = settings.stripe_secret_key, settings.environment == "live"
    return {
        "`payment_answer_within` must be at least ten minutes: a provider that was only away for a "
        "moment would cost an order.": (settings.payment_answer_within < _SHORTEST_PAYMENT_ANSWER),
        "A live service cannot use `payments = simulated`: orders would be printed and never paid "
        "for.": is_live and settings.payments == "simulated",
        "A live service needs `payments`: `account` or `stripe`.": (
            is_live and settings.payments == "auto"
        ),
        "`payments = stripe` needs `stripe_secret_key`.": settings.payments == "stripe" and not key,
        "`stripe_secret_key` must begin with `sk_test_`, `rk_test_`, `sk_live_` or `rk_live_`.": (
            bool(key) and not _STRIPE_KEY.fullmatch(key)
        ),
        "A sandbox charges nothing: `stripe_secret_key` must be a test key, not a live one.": (
            not is_live and "_live_" in key[:8]
        ),
        "A live service charges: `stripe_secret_key` must be a live key, not a test one.": (
            is_live and "_test_" in key[:8]
        ),
        "`stripe_webhook_secret` must begin with `whsec_`.": (
            not re.fullmatch(r"(whsec_\S+)?", settings.stripe_webhook_secret)
        ),
        "`stripe_url` must be an address such as `https://api.stripe.com` without a path.": (
            not re.fullmatch(r"https?://[^/\s?#@]+", settings.stripe_url)
        ),
        "A live service asks Stripe itself: another `stripe_url` is for a sandbox.": (
            is_live and settings.stripe_url != SETTINGS["stripe_url"].default
        ),
    }


def _list_image_problems(settings: Settings) -> dict[str, bool]:
    return {
        "`blurred_below_dpi` must not be more than `sharp_from_dpi`.": (
            settings.blurred_below_dpi > settings.sharp_from_dpi
        ),
    }


def _are_reminder_days(text: str) -> bool:
    if not text:
        return True
    if not _REMINDER_DAYS.fullmatch(text):
        return False
    days = [int(part) for part in text.split(",")]
    return days == sorted(set(days)) and days[0] > 0


def _list_mail_problems(settings: Settings) -> dict[str, bool]:
    given = [name for name in SETTINGS if name.startswith("smtp_") or name == "mail_from"]
    others = any(getattr(settings, name) != SETTINGS[name].default for name in given)
    names = (settings.operator_name, settings.mail_from_name)
    return {
        "`reminder_days` must be up to nine numbers of days from 1 to 999, each more than the one "
        "before, with commas between them, such as `3, 10, 21`.": (
            not _are_reminder_days(settings.reminder_days)
        ),
        "`smtp_host` and `mail_from` belong together: mail needs a server and a sender.": (
            bool(settings.smtp_host) != bool(settings.mail_from)
        ),
        "The settings that begin with `smtp_` are for a mail server; set `smtp_host`.": (
            others and not settings.smtp_host
        ),
        "`smtp_user` and `smtp_password` belong together; set both or neither.": (
            bool(settings.smtp_user) != bool(settings.smtp_password)
        ),
        "`smtp_password` must not be sent without encryption; set `smtp_security` to `starttls` or "
        "`tls`.": bool(settings.smtp_password)
        and settings.smtp_security == "none"
        and not is_loopback(settings.smtp_host),
        "`operator_name` and `mail_from_name` must be printable characters.": (
            not all(name.isprintable() for name in names)
        ),
    }
