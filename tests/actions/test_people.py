"""One address signs in as one person, however many links were sent to it."""

from datetime import timedelta

import pytest

from printworks.actions.accounts.people import accept_invitation, invite_colleague, invite_merchant
from printworks.actions.work import SystemWork
from printworks.catalogue.products import Currency
from printworks.errors import WrongState
from printworks.rules.mail import MailTerms
from printworks.rules.people import Realm
from printworks.rules.sign_in import OF_A_TEAM, OF_AN_INVITATION
from printworks.store.accounts.people import Person, find_person
from printworks.store.engine.database import Database
from printworks.store.mail.mails import MailSearch, search_mails
from tests.factories import NOON, a_merchant, a_system_work, a_work

EMAIL = "tom@shop.example"
BY_MAIL = MailTerms("Fox", "https://print.example")


def accept(work: SystemWork, token: str) -> Person:
    """Follow a link, and choose a password."""
    return accept_invitation(
        work, token, shop="", password_hash=f"of {token}", currency=Currency.GBP
    )


def test_of_two_links_to_the_same_address_one_makes_a_person(database: Database) -> None:
    with database.writing() as db:
        work = a_work(db, a_merchant(db))
        first, second = (invite_colleague(work, EMAIL) for _ in range(2))
        person = accept(a_system_work(db), first)

    with pytest.raises(WrongState, match="already in use"), database.writing() as db:
        accept(a_system_work(db), second)

    with database.reading() as db:
        assert find_person(db, Realm.MERCHANT, EMAIL) == person


def count_mails(database: Database) -> int:
    """Return how many mails were written."""
    with database.reading() as db:
        return len(search_mails(db, MailSearch(), limit=99).mails)


def test_nobody_is_mailed_one_invitation_after_the_other(database: Database) -> None:
    with database.writing() as db:
        alice, bob = a_merchant(db), a_merchant(db)
        for merchant in (alice, bob, alice):
            invite_colleague(a_work(db, merchant, mail_terms=BY_MAIL), EMAIL)

    # Whoever asks: the address is that of somebody who may want none of them.
    with pytest.raises(WrongState, match="was sent 3 invitations lately"), database.writing() as db:
        invite_colleague(a_work(db, bob, mail_terms=BY_MAIL), EMAIL)
    with pytest.raises(WrongState, match="pass the link on yourself"), database.writing() as db:
        invite_merchant(a_system_work(db, mail_terms=BY_MAIL), EMAIL)
    assert count_mails(database) == OF_AN_INVITATION.together == 3

    with database.writing() as db:
        assert invite_colleague(a_work(db, bob, mail_terms=BY_MAIL), EMAIL, by_mail=False)
        later = NOON + OF_AN_INVITATION.every
        invite_colleague(a_work(db, bob, now=later, mail_terms=BY_MAIL), EMAIL)
    assert count_mails(database) == 4


def test_no_team_mails_invitations_to_the_whole_world(database: Database) -> None:
    with database.writing() as db:
        alice, bob = a_merchant(db), a_merchant(db)
        for number in range(OF_A_TEAM.together):
            invite_colleague(a_work(db, alice, mail_terms=BY_MAIL), f"{number}@shop.example")

    with pytest.raises(WrongState, match="sent 20 invitations lately"), database.writing() as db:
        invite_colleague(a_work(db, alice, mail_terms=BY_MAIL), EMAIL)
    with database.writing() as db:
        invite_colleague(a_work(db, bob, mail_terms=BY_MAIL), EMAIL)
        later = NOON + timedelta(hours=1)
        invite_colleague(a_work(db, alice, now=later, mail_terms=BY_MAIL), EMAIL)

    assert count_mails(database) == OF_A_TEAM.together + 2 == 22
