"""Dates as the reader writes them."""

from datetime import UTC, date, datetime

import pytest

from printworks.dashboard.shared import dates
from tests.api.production import submit
from tests.dashboard.windows import Window

AT = datetime(2026, 9, 4, 15, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("", "4 Sept 2026, 15:09"),
        ("en-GB,en;q=0.9", "4 Sept 2026, 15:09"),
        ("en-US,en;q=0.9", "Sep 4, 2026, 3:09\N{NARROW NO-BREAK SPACE}PM"),
        ("de-DE,de;q=0.9,en-US;q=0.8", "Sep 4, 2026, 3:09\N{NARROW NO-BREAK SPACE}PM"),
        ("de-DE", "4 Sept 2026, 15:09"),
        ("en-XX", "4 Sept 2026, 15:09"),
        ("en-" + "x" * 5000 + ",\x00;;;,en-", "4 Sept 2026, 15:09"),
    ],
)
def test_whoever_asks_for_an_english_gets_its_dates(wish: str, said: str) -> None:
    dates.read_for(wish)
    try:
        assert dates.write_timestamp(AT) == said
    finally:
        dates.read_for("")


def test_every_form_is_written() -> None:
    assert dates.write_date(AT) == "4 Sept 2026"
    assert dates.write_day(date(2026, 9, 4)) == "Fri, 4 Sept 2026"
    assert dates.write_stored_day("2026-09-04") == "Fri, 4 Sept 2026"
    assert dates.write_day_of_year(AT) == "4 Sept"
    assert dates.write_instant(AT) == "4 Sept 2026, 15:09:30"
    assert dates.write_soon(AT) == "4 Sept, 15:09:30"
    assert dates.write_days(date(2026, 9, 4), date(2026, 9, 4)) == "Fri, 4 Sept 2026"


def test_a_page_listens_to_its_browser_and_the_next_one_to_its_own(alice: Window) -> None:
    order = submit(alice.api)

    american = alice.open(f"/orders/{order}", **{"accept-language": "en-US"}).body.decode()
    usual = alice.open(f"/orders/{order}").body.decode()

    assert "Nov 15, 2026" in american
    assert "15 Nov 2026" in usual
