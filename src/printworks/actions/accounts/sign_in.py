"""Tries to sign in: counted before anyone knows whether the person exists."""

from datetime import timedelta
from functools import partial

from printworks.actions.work import SystemWork
from printworks.rules.people import FREE_FAILURES, Realm
from printworks.rules.sign_in import (
    OF_A_KNOWN_BROWSER,
    OF_A_NETWORK,
    Tries,
    count_in_a_row,
    count_within,
)
from printworks.store.accounts.people import Person
from printworks.store.accounts.recovery_codes import use_code
from printworks.store.accounts.tries import count_try, find_tries, forget_tries


def look_at_network(work: SystemWork, network: str) -> timedelta | None:
    """Return how long a network address has to wait, without counting another try."""
    before = find_tries(work.db, _network(network))
    counted = count_within(OF_A_NETWORK, before, now=work.real_now) if before else None
    return counted if isinstance(counted, timedelta) else None


def count_network(work: SystemWork, network: str) -> timedelta | None:
    """Count a try from a network address, for any account; return how long to wait instead."""
    rule = partial(count_within, OF_A_NETWORK, now=work.real_now)
    counted = count_try(work.db, _network(network), rule, now=work.real_now)
    return counted if isinstance(counted, timedelta) else None


def count_person(work: SystemWork, realm: Realm, email: str) -> Tries | timedelta:
    """Count a try for the address of a person, whether there is one or not."""
    rule = partial(count_in_a_row, now=work.real_now)
    return count_try(work.db, _person(realm, email), rule, now=work.real_now)


def count_known_browser(work: SystemWork, browser: str) -> timedelta | None:
    """Count a try from a browser that its owner has used before; return how long to wait instead."""
    rule = partial(count_within, OF_A_KNOWN_BROWSER, now=work.real_now)
    counted = count_try(work.db, f"browser {browser}", rule, now=work.real_now)
    return counted if isinstance(counted, timedelta) else None


def count_proof(work: SystemWork, session: str) -> timedelta | None:
    """Count a password that is entered again in a session; return how long to wait instead."""
    rule = partial(count_in_a_row, now=work.real_now)
    counted = count_try(work.db, f"proof {session}", rule, now=work.real_now)
    return counted if isinstance(counted, timedelta) else None


def forget_person(work: SystemWork, realm: Realm, email: str) -> None:
    """Count anew, since the person is in."""
    forget_tries(work.db, _person(realm, email))


def forget_proof(work: SystemWork, session: str) -> None:
    """Count anew, since the password was right."""
    forget_tries(work.db, f"proof {session}")


def use_recovery_code(work: SystemWork, person: Person | None, typed: str) -> bool:
    """Use up a recovery code of a person; return False if it is none of theirs, or was used."""
    # Nobody takes as long as somebody: no person has this id.
    return use_code(work.db, person.id if person else 0, typed, now=work.real_now)


def note_failure(work: SystemWork, person: Person | None, tries: int) -> None:
    """Write into the audit log that the next try has to wait, for any address."""
    if tries == FREE_FAILURES + 1:
        work.audit_for(person.merchant_id if person else None, "sign-in-blocked", tries=tries)


def _network(network: str) -> str:
    return f"network {network}"


def _person(realm: Realm, email: str) -> str:
    return f"{realm} {email}"
