"""What `printworks doctor --live` asks besides: what real orders and money need.

Each check is a line of `LIVE_CHECKS`. None changes anything.
"""

import ctypes
import os
import resource
import struct
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import msgspec
from sqlalchemy import make_url
from sqlalchemy.exc import SQLAlchemyError

from printworks.cli.checks import FAIL, OK, WARN, DoctorFinding, DoctorVerdict
from printworks.imaging.jail import find_confinement, verify_confinement
from printworks.imaging.messages import Confinement
from printworks.rules.people import Realm, Role
from printworks.setting_values import FILE_NAME
from printworks.settings import Settings, is_in_s3, is_loopback
from printworks.store.accounts.passkeys import count_passkeys_of
from printworks.store.accounts.people import list_people
from printworks.store.engine.database import Database, DatabaseUnusable
from printworks.store.tables import schema

ENOUGH_FILES: Final = 8192
_ROOT: Final = 0
_UNSYNCHRONISED: Final = 0x0040


class MachineFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What the checks need to know besides the settings."""

    user: int
    open_files: int
    is_clock_synchronised: bool | None
    confinement: Confinement
    # None if the database cannot be asked; its own lines say why.
    admins: int | None
    admins_with_second_factor: int


Judgement = tuple[DoctorVerdict, str]
LiveCheck = Callable[[Settings, MachineFacts], Judgement]


def examine_live(settings: Settings) -> Iterator[DoctorFinding]:
    """Check whether the deployment is ready for a live shop."""
    facts = collect_facts(settings)
    for name, check in LIVE_CHECKS.items():
        yield DoctorFinding(name, *check(settings, facts))


def collect_facts(settings: Settings) -> MachineFacts:
    """Ask the machine and the database."""
    admins, safe = _count_admins(settings)
    return MachineFacts(
        user=os.geteuid(),
        open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        is_clock_synchronised=ask_clock(),
        confinement=verify_confinement(find_confinement()),
        admins=admins,
        admins_with_second_factor=safe,
    )


def ask_clock() -> bool | None:
    """Return whether the kernel's clock follows a time server; None where it cannot say."""
    kernel = ctypes.CDLL(None, use_errno=True)
    if not hasattr(kernel, "adjtimex"):
        return None
    timex = ctypes.create_string_buffer(512)  # `modes` is 0: only ask
    if kernel.adjtimex(timex) < 0:
        return None
    (status,) = struct.unpack_from("=i", timex, 40)
    return not status & _UNSYNCHRONISED


def _count_admins(settings: Settings) -> tuple[int | None, int]:
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return None, 0
    try:
        database = Database(settings.database_url, connections=1)
    except (DatabaseUnusable, SQLAlchemyError):
        return None, 0
    try:
        if not schema.find_schema(database).is_usable:
            return None, 0
        with database.reading() as db:
            admins = [one for one in list_people(db, Realm.OPERATOR) if one.role is Role.ADMIN]
            passkeys = count_passkeys_of(db, admins)
    except SQLAlchemyError:
        return None, 0
    finally:
        database.close()
    return len(admins), sum(admin.has_totp or admin.id in passkeys for admin in admins)


def _check_environment(settings: Settings, _: MachineFacts) -> Judgement:
    if settings.environment == "live":
        return OK, "live: orders are printed and charged."
    return FAIL, "A sandbox prints nothing; set `environment` to `live`, with a new database."


def _check_address(settings: Settings, _: MachineFacts) -> Judgement:
    address = urlsplit(settings.public_url)
    host = address.hostname or ""
    if is_loopback(host):
        return FAIL, f"Only this machine can reach {settings.public_url}; set `public_url`."
    if _is_ip_address(host):
        return (
            WARN,
            f"{settings.public_url} is a number; merchants' programs need a name that stays.",
        )
    return OK, f"merchants use {settings.public_url}."


def _is_ip_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _check_certificate(settings: Settings, _: MachineFacts) -> Judgement:
    if settings.behind_proxy:
        return OK, f"the proxy in front of {settings.behind_proxy} has the certificate."
    if settings.tls_cert is not None:
        return OK, f"{settings.tls_cert}."
    advice = "set `tls_cert` and `tls_key`, or `behind_proxy`."
    return FAIL, f"No program of a merchant trusts the local CA; {advice}"


def _check_payments(settings: Settings, _: MachineFacts) -> Judgement:
    if settings.payments == "account":
        return OK, "merchants pay on account."
    if settings.payments != "stripe":
        return FAIL, "Nobody is charged; set `payments` to `account` or `stripe`."
    if not settings.stripe_webhook_secret:
        advice = "set `stripe_webhook_secret`; see docs/operate/payments.md."
        return WARN, f"Stripe cannot report what happens later; {advice}"
    return OK, "Stripe, with a webhook."


def _check_live_database(settings: Settings, _: MachineFacts) -> Judgement:
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite":
        advice = "PostgreSQL can have a standby and several machines."
        return WARN, f"SQLite: one machine, and its disk is all there is. {advice}"
    host = str(url.query.get("host", url.host or ""))
    is_near = not host or host.startswith("/") or is_loopback(host)
    if not is_near and url.query.get("sslmode") not in {"require", "verify-ca", "verify-full"}:
        advice = "add `?sslmode=verify-full` to `database_url`."
        return WARN, f"The way to {host} may be unencrypted; {advice}"
    return OK, "PostgreSQL."


def _check_settings_file(settings: Settings, _: MachineFacts) -> Judgement:
    file = settings.data / FILE_NAME
    if file.exists() and file.stat().st_mode & 0o007:
        return FAIL, f"Others on this machine can read {file}; run `chmod 640 {file}`."
    return OK, "nobody else on this machine can read them."


def _check_secret_key(settings: Settings, _: MachineFacts) -> Judgement:
    file = settings.secret_keys
    if not file.exists():
        return WARN, f"{file} does not exist yet; the first start makes it."
    # Not its group: a secret of Kubernetes belongs to root, and to the group of the service.
    if file.stat().st_mode & 0o007:
        return FAIL, f"Others can read {file}; run `chmod 600 {file}`."
    return OK, f"{file}; keep a copy apart from the database's (docs/operate/backup.md)."


def _check_operators(settings: Settings, facts: MachineFacts) -> Judgement:
    if facts.admins is None:
        return WARN, "The database cannot say yet who may sign in."
    if not facts.admins:
        advice = "`printworks operator invite you@works.example --role admin`."
        return (
            FAIL,
            f"Nobody can sign in to the console; open your invitation, or make one: {advice}",
        )
    if not facts.admins_with_second_factor:
        advice = "add a passkey or an authenticator app under Settings in the console."
        return FAIL, f"No admin signs in with a second factor; {advice}"
    if "admin" not in settings.second_factor_roles:
        advice = "set `second_factor_for` to `admin`."
        return WARN, f"An admin may sign in with a password alone; {advice}"
    return OK, f"{facts.admins} with the role admin, who need a second factor."


def _check_callback_rules(settings: Settings, _: MachineFacts) -> Judgement:
    if settings.callbacks_allow_http:
        return WARN, "Anyone on the way can read them; remove `callbacks_allow_http`."
    if settings.callback_challenge == "never":
        return WARN, "New addresses are not verified; remove `callback_challenge`."
    return OK, "https only, to addresses that were verified."


def _check_outbound(settings: Settings, _: MachineFacts) -> Judgement:
    if settings.outbound_allow_networks:
        allowed = ", ".join(map(str, settings.outbound_allow_networks))
        return WARN, f"Merchants can make this machine ask {allowed}; is that intended?"
    return OK, "no private network can be reached through images and callbacks."


def _check_room(settings: Settings, _: MachineFacts) -> Judgement:
    places = [settings.data, *([] if is_in_s3(settings.files) else [Path(settings.files)])]
    free = min((_find_free(place), place) for place in places)
    if not settings.disk_floor:
        return WARN, "Uploads may fill the disk; remove `disk_floor = 0`."
    if free[0] < settings.disk_floor:
        return FAIL, f"{free[1]} has less than `disk_floor` free: no file is taken. Make room."
    if free[0] < 10 * settings.disk_floor:
        return WARN, f"{free[1]} has less than ten times `disk_floor` free; make room soon."
    return OK, "far above `disk_floor`."


def _find_free(place: Path) -> int:
    while not place.exists():
        place = place.parent
    found = os.statvfs(place)
    return found.f_bavail * found.f_frsize


def _check_contact(settings: Settings, _: MachineFacts) -> Judgement:
    if not settings.security_contact:
        return WARN, "Nobody can report a vulnerability to you; set `security_contact`."
    return OK, f"{settings.security_contact}, at /.well-known/security.txt."


def _check_own_catalogue(settings: Settings, _: MachineFacts) -> Judgement:
    if settings.catalogue is None:
        advice = "copy it, put your labs and prices in, and set `catalogue`."
        return WARN, f"The built-in one is an example; {advice}"
    return OK, f"{settings.catalogue}."


def _check_time(_: Settings, facts: MachineFacts) -> Judgement:
    if facts.is_clock_synchronised:
        return OK, "follows a time server."
    if facts.is_clock_synchronised is None:
        return OK, "this system does not say whether it follows a time server."
    advice = "on Debian: `apt-get install systemd-timesyncd`; in a container, on its host."
    return WARN, f"It follows no time server; {advice}"


def _check_user(_: Settings, facts: MachineFacts) -> Judgement:
    if facts.user == _ROOT:
        return WARN, "This is root; run the service and its commands as a user of their own."
    return OK, "not root."


def _check_open_files(_: Settings, facts: MachineFacts) -> Judgement:
    if 0 <= facts.open_files < ENOUGH_FILES:
        advice = f"allow {ENOUGH_FILES} or more (`LimitNOFILE=` of systemd, `ulimit -Hn`)."
        return WARN, f"At most {facts.open_files}, and each connection is one; {advice}"
    return OK, "enough for every connection."


def _check_jail(_: Settings, facts: MachineFacts) -> Judgement:
    missing = [
        name
        for name, works in (
            ("Landlock", facts.confinement.landlock),
            ("seccomp", facts.confinement.seccomp),
        )
        if not works
    ]
    if missing:
        advice = "a newer kernel, or a container that allows it, has it."
        return WARN, f"Pictures are decoded without {' and '.join(missing)}; {advice}"
    return OK, "pictures are decoded behind Landlock and seccomp."


LIVE_CHECKS: Final[dict[str, LiveCheck]] = {
    "live": _check_environment,
    "public address": _check_address,
    "certificate": _check_certificate,
    "payments": _check_payments,
    "live database": _check_live_database,
    "settings file": _check_settings_file,
    "secret key": _check_secret_key,
    "operators": _check_operators,
    "callback rules": _check_callback_rules,
    "outbound": _check_outbound,
    "room for files": _check_room,
    "contact": _check_contact,
    "own catalogue": _check_own_catalogue,
    "time": _check_time,
    "user": _check_user,
    "open files": _check_open_files,
    "jail": _check_jail,
}
