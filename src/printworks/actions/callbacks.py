"""A merchant's callbacks: where they are sent, how they are signed, and sending them again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from printworks.actions.work import Work
from printworks.errors import WrongState
from printworks.rules.callbacks import CallbackFormat, check_scheme, wait_after_challenge
from printworks.rules.jobs import JobKind
from printworks.store.accounts.secrets import about_callbacks, seal
from printworks.store.callbacks import callbacks as store
from printworks.store.callbacks.replay import find_number_since, list_page, send_callbacks_again
from printworks.store.callbacks.settings import (
    CallbackCandidate,
    CallbackSettings,
    SigningSecret,
    lock_callback_settings,
    read_callback_settings,
    write_callback_settings,
)
from printworks.vault import OpenedSecrets, Vault
from printworks.wire.signatures import make_secret

# How long the previous secret is used too: time to update every receiver.
OLD_SECRET_FOR: Final = timedelta(hours=24)
# The most that one transaction sends again; the caller asks again for more.
REPLAY_PAGE: Final = 500

# How many characters of a secret are shown.
_HINT: Final = 4

NO_ADDRESS: Final = "There is no callback address; set one first."
NOT_PROVED: Final = (
    "The callback address is not used yet: its owner has not answered the challenge."
)
_NOTHING_WAITS: Final = "No callback address waits for the answer to a challenge."


class CallbackChange(NamedTuple):
    """The settings as they are now, and a new secret, which can be shown only once."""

    settings: CallbackSettings
    new_secret: str | None = None


class Replayed(NamedTuple):
    """How many are sent again, and the number to continue with; None at the end."""

    sent: int
    next_number: int | None


def set_callback(
    work: Work,
    url: str | None,
    format: CallbackFormat | None = None,  # noqa: A002  (what it is called everywhere)
    *,
    without_challenge: bool = False,
) -> CallbackChange:
    """Send the merchant's callbacks to this address from now on; None stops them.

    Without a format, each callback has the format of the API version that made its order.
    Callbacks that wait to be sent go to the new address too. Where a challenge is asked for, the
    last address is used until the owner of the new one has answered it.
    """
    rules = work.backing.address_rules
    if url is not None:
        work.check_address(url)
        check_scheme(url, rules)
    known = lock_callback_settings(work.db, work.merchant.id)
    new_secret = None if known.secrets or url is None else make_secret()
    secrets = known.secrets if new_secret is None else [_seal(work, new_secret)]
    settings = msgspec.structs.replace(
        known, url=url, format=format, secrets=secrets, candidate=None
    )
    is_proved = without_challenge or known.is_trusted or url == known.url
    if url is not None and rules.needs_challenge and not is_proved:
        candidate = CallbackCandidate(url, work.real_now)
        settings = msgspec.structs.replace(settings, url=known.url, candidate=candidate)
        _enqueue_challenge(work, candidate)
    write_callback_settings(work.db, work.merchant.id, settings)
    if url is None:
        work.audit("clear-callback", _without_query(known.url or ""))
    else:
        work.audit("set-callback", _without_query(url), format=format)
    return CallbackChange(settings, new_secret)


def _without_query(url: str) -> str:
    """Return what may be shown of an address: its query may hold a secret."""
    return url.partition("?")[0].partition("#")[0]


def _enqueue_challenge(
    work: Work, candidate: CallbackCandidate, wait: timedelta = timedelta(0)
) -> None:
    args = {"since": candidate.since.isoformat()}
    work.enqueue(JobKind.CHALLENGE_CALLBACK, args, wait=wait)


def retry_challenge(work: Work) -> CallbackSettings:
    """Challenge the new address again, with all its attempts."""
    known = lock_callback_settings(work.db, work.merchant.id)
    if known.candidate is None:
        raise WrongState(_NOTHING_WAITS)
    candidate = CallbackCandidate(known.candidate.url, work.real_now)
    _enqueue_challenge(work, candidate)
    work.audit("retry-callback-challenge", _without_query(candidate.url))
    return _write_candidate(work, known, candidate)


def settle_challenge(work: Work, since: str, problem: str | None) -> None:
    """Use the new address if its challenge was answered; otherwise challenge it again later.

    Without effect if the address was changed in the meantime.
    """
    known = lock_callback_settings(work.db, work.merchant.id)
    candidate = known.candidate
    if candidate is None or candidate.since.isoformat() != since or candidate.is_over:
        return
    if problem is None:
        _use_candidate(work, known, candidate)
        return
    failures = candidate.failures + 1
    wait = wait_after_challenge(failures)
    failed = msgspec.structs.replace(
        candidate, failures=failures, error=problem, is_over=wait is None
    )
    if wait is not None:
        _enqueue_challenge(work, failed, wait)
    _write_candidate(work, known, failed)


def trust_addresses(work: Work, *, is_trusted: bool) -> CallbackSettings:
    """Waive the challenge of a merchant's addresses, also of one that waits; or ask for it again."""
    known = lock_callback_settings(work.db, work.merchant.id)
    settings = msgspec.structs.replace(known, is_trusted=is_trusted)
    work.audit("trust-callbacks" if is_trusted else "distrust-callbacks", work.merchant.code)
    if is_trusted and known.candidate is not None:
        return _use_candidate(work, settings, known.candidate)
    write_callback_settings(work.db, work.merchant.id, settings)
    return settings


def _use_candidate(
    work: Work, known: CallbackSettings, candidate: CallbackCandidate
) -> CallbackSettings:
    return _write_candidate(work, msgspec.structs.replace(known, url=candidate.url), None)


def _write_candidate(
    work: Work, known: CallbackSettings, candidate: CallbackCandidate | None
) -> CallbackSettings:
    settings = msgspec.structs.replace(known, candidate=candidate)
    write_callback_settings(work.db, work.merchant.id, settings)
    return settings


def _seal(work: Work, secret: str) -> SigningSecret:
    sealed = seal(work.db, work.backing.vault, secret, about=about_callbacks(work.merchant.id))
    return SigningSecret(sealed, secret[-_HINT:])


def open_secrets(
    vault: Vault | OpenedSecrets,
    merchant_id: int,
    secrets: Sequence[SigningSecret],
    now: datetime,
) -> list[str]:
    """Return the secrets of a merchant that are valid now, newest first, to sign with."""
    about = about_callbacks(merchant_id)
    return [vault.open(one.sealed, about=about) for one in secrets if one.is_valid(now)]


def rotate_secret(work: Work) -> CallbackChange:
    """Sign callbacks with a new secret, and for a day with the previous one too."""
    known = lock_callback_settings(work.db, work.merchant.id)
    until, new_secret = work.real_now + OLD_SECRET_FOR, make_secret()
    old = [msgspec.structs.replace(one, until=until) for one in known.secrets[:1]]
    new = _seal(work, new_secret)
    settings = msgspec.structs.replace(known, secrets=[new, *old])
    write_callback_settings(work.db, work.merchant.id, settings)
    work.audit("rotate-callback-secret", f"…{new.hint}")
    return CallbackChange(settings, new_secret)


def send_again(work: Work, callback_id: int) -> None:
    """Send a callback now, whatever its state, with all its attempts, even if nothing changed."""
    store.get_callback(work.db, work.merchant.id, callback_id)
    _require_address(work)
    _send(work, [callback_id], is_asked_for=True)
    work.audit("send-callback-again", f"callback {callback_id}")


def resend_failed(work: Work) -> int:
    """Send the newest failed callbacks again; return how many."""
    _require_address(work)
    failed = store.list_callbacks(work.db, work.merchant.id, is_failed=True, limit=REPLAY_PAGE)
    sent = _send(work, [callback.id for callback in failed])
    work.audit("resend-failed-callbacks", work.merchant.code, callbacks=sent)
    return sent


def replay(work: Work, *, since: datetime | int) -> Replayed:
    """Send one page of the callbacks since a time, or from a number on, again.

    Those that tell nothing new are counted, and skipped by the worker.
    Call it again with the number it returns, in another transaction, until that is None.
    """
    _require_address(work)
    last = store.count_events(work.db, work.merchant.id)
    first = since
    if isinstance(first, datetime):
        first = find_number_since(work.db, work.merchant.id, count=last, since=first)
    page = list_page(work.db, work.merchant.id, first=first, last=last, limit=REPLAY_PAGE)
    sent = _send(work, [row.id for row in page])
    work.audit("replay-callbacks", str(since), sent=sent)
    is_end = len(page) < REPLAY_PAGE or page[-1].number == last
    return Replayed(sent, None if is_end else page[-1].number + 1)


def send_test(work: Work) -> int:
    """Send an example to the merchant's address once; return the id of that callback."""
    _require_address(work)
    callback_id = store.add_test(work.db, work.merchant, now=work.now)
    work.audit("test-callback", f"callback {callback_id}")
    return callback_id


def _require_address(work: Work) -> None:
    known = read_callback_settings(work.db, work.merchant.id)
    if known.url is None:
        raise WrongState(NO_ADDRESS if known.candidate is None else NOT_PROVED)


def _send(work: Work, ids: list[int], *, is_asked_for: bool = False) -> int:
    return send_callbacks_again(
        work.db, ids, now=work.now, real_now=work.real_now, is_asked_for=is_asked_for
    )
