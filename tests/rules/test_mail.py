"""Who is told what, how often, and in which language."""

from datetime import UTC, datetime, timedelta

import pytest

from printworks.catalogue.countries import COUNTRIES
from printworks.rules.languages import Language, guess_language
from printworks.rules.mail import (
    NOTICES,
    REMIND_EVERY,
    WITH_LINK,
    MailFacts,
    MailKind,
    find_address,
    find_end,
    find_overdue,
    find_slot,
    is_credit_low,
    is_wanted,
    list_choices,
    name_browser,
    should_remind,
)
from printworks.rules.people import Realm, Role

NOW = datetime(2026, 11, 15, 12, 20, tzinfo=UTC)


def test_security_cannot_be_turned_off() -> None:
    for kind in set(MailKind) - set(NOTICES):
        for role in Role:
            assert all(kind not in list_choices(realm, role) for realm in Realm)
    assert WITH_LINK.isdisjoint(NOTICES)


def test_a_role_is_told_what_it_can_do_something_about() -> None:
    assert MailKind.IMAGES_FAILED in list_choices(Realm.MERCHANT, Role.OWNER)
    assert MailKind.ISSUES_RAISED not in list_choices(Realm.MERCHANT, Role.OWNER)
    assert list_choices(Realm.OPERATOR, Role.VIEWER) == []
    assert list_choices(Realm.OPERATOR, Role.SUPPORT) == [MailKind.ISSUES_RAISED]
    assert list_choices(Realm.OPERATOR, Role.ADMIN) == [
        MailKind.ISSUES_RAISED,
        MailKind.MERCHANTS_OVERDUE,
    ]


def test_a_choice_counts_more_than_what_is_usual() -> None:
    assert is_wanted(MailKind.IMAGES_FAILED, Role.OWNER, {})
    assert not is_wanted(MailKind.SHIPMENTS_SENT, Role.OWNER, {})
    assert is_wanted(MailKind.SHIPMENTS_SENT, Role.OWNER, {MailKind.SHIPMENTS_SENT: True})
    assert not is_wanted(MailKind.IMAGES_FAILED, Role.OWNER, {MailKind.IMAGES_FAILED: False})
    # Whoever changes to a role without the duty is not told any more.
    assert not is_wanted(MailKind.ISSUES_RAISED, Role.VIEWER, {MailKind.ISSUES_RAISED: True})


def test_an_hour_of_the_clock_has_a_number_and_an_end() -> None:
    hour = timedelta(hours=1)
    number, left = find_slot(NOW, hour)

    assert left == timedelta(minutes=40)
    assert find_slot(NOW + left, hour) == (number + 1, hour)
    assert find_slot(NOW + left - timedelta(microseconds=1), hour)[0] == number
    assert find_slot(NOW, timedelta(days=1))[0] == number // 24


def test_a_mail_is_of_no_use_after_its_link_has_ended_or_the_news_is_old() -> None:
    assert find_end(MailFacts(until=NOW), now=NOW) == NOW
    assert find_end(MailFacts(), now=NOW) == NOW + timedelta(days=3)


@pytest.mark.parametrize(
    ("balance", "is_low"), [(0, False), (900, False), (901, True), (1000, True), (2000, True)]
)
def test_credit_is_low_when_less_than_a_part_is_left(balance: int, is_low: bool) -> None:
    assert is_credit_low(1000, balance, percent=10) is is_low
    assert not is_credit_low(1000, balance, percent=0)


def test_payments_settle_the_oldest_charges_first() -> None:
    assert find_overdue(500, 500) == 0
    assert find_overdue(500, 200) == 300
    assert find_overdue(-100, 0) == 0


def test_reminders_come_once_a_week() -> None:
    assert should_remind(None, now=NOW)
    assert not should_remind(NOW, now=NOW + REMIND_EVERY - timedelta(seconds=1))
    assert should_remind(NOW, now=NOW + REMIND_EVERY)


def test_what_is_no_address_is_not_written_to() -> None:
    assert find_address(" Mary@Shop.example ") == "mary@shop.example"
    assert find_address("mary") is None
    assert find_address("mary@shop.example\r\nBcc: x@y.example") is None
    assert find_address(None) is None


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (
            "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
            "Firefox, Linux",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
            "Chrome/142.0 Safari/537.36 Edg/142.0",
            "Edge, Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 "
            "(KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1",
            "Safari, iPhone",
        ),
        ("curl/8.5.0", "curl"),
        ("  My\r\nown <b>", "My own <b>"),
        ("", ""),
    ],
)
def test_a_browser_is_named_as_people_know_it(agent: str, name: str) -> None:
    assert name_browser(agent) == name


def test_people_are_written_to_in_the_language_of_their_country() -> None:
    assert guess_language("AT") is Language.DE
    assert guess_language("BE") is Language.FR
    assert guess_language("MX") is Language.ES
    assert guess_language("NL") is Language.EN
    assert guess_language(None) is Language.EN
    assert {guess_language(country) for country in COUNTRIES} == set(Language)


def test_only_those_who_see_the_account_are_told_of_it() -> None:
    for role in (Role.OWNER, Role.FINANCE):
        assert MailKind.OVERDUE in list_choices(Realm.MERCHANT, role)
    for role in (Role.MEMBER, Role.VIEWER):
        assert MailKind.OVERDUE not in list_choices(Realm.MERCHANT, role)
        assert MailKind.IMAGES_FAILED in list_choices(Realm.MERCHANT, role)
