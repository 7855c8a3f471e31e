"""No page leads anybody to what their role may not see, or offers what it may not do."""

import re
from pathlib import Path
from typing import Final

import pytest

from printworks.dashboard.site.duties import refuse_duty
from printworks.rules.people import MAY, OPERATORS, TEAM, USUAL_DUTY, Duty, Realm, Role
from printworks.settings import Settings
from printworks.store.engine.database import Database
from tests.api.client import Server
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_colleagues_window, open_console
from tests.dashboard.worlds import PAGES, make_world

pytestmark = pytest.mark.slow

_LINK: Final = re.compile(r'href="(/[^"#]*)')
_OFFERED: Final = re.compile(r'name="do" value="([\w-]+)"')
_DUTIES: Final = {
    (realm, form_action.name): form_action.duty or USUAL_DUTY[realm]
    for realm in Realm
    for page in PAGES[realm]
    for form_action in page.form_actions
}


@pytest.mark.parametrize(
    ("realm", "role"),
    [(Realm.MERCHANT, role) for role in TEAM] + [(Realm.OPERATOR, role) for role in OPERATORS],
)
def test_every_link_and_every_button_is_for_whoever_sees_it(
    realm: Realm,
    role: Role,
    alice: Window,
    operator: Window,
    server: Server,
    database: Database,
    clock: MovableClock,
    settings: Settings,
    tmp_path: Path,
) -> None:
    world = make_world(database, settings, tmp_path, alice, operator)
    if realm is Realm.MERCHANT:
        window = open_colleagues_window(server, database, alice, role)
    else:
        window = open_console(server, database, role, email="somebody@works.example")
    dead = []
    seen: dict[str, int] = {}

    for page in PAGES[realm]:
        # Nobody may look as quickly as a test does.
        clock.advance(seconds=60)
        answer = window.open(world.address_of(page))
        if answer.status == 200 and b"<html" in answer.body:
            body = answer.body.decode()
            dead += [(page.path, link) for link in _find_dead_links(window, body, seen)]
            offered = set(_OFFERED.findall(body))
            dead += [(page.path, one) for one in offered if _DUTIES[realm, one] not in MAY[role]]

    assert not dead, "\n".join(f"{where}: {what}" for where, what in sorted(dead))


def _find_dead_links(window: Window, body: str, seen: dict[str, int]) -> list[str]:
    """Follow every link of a page that was not followed before; return those that are refused."""
    links = {found.replace("&amp;", "&") for found in _LINK.findall(body)}
    for link in links - seen.keys():
        seen[link] = window.open(link).status
    return [link for link in links if seen[link] in {400, 403}]


@pytest.mark.parametrize("duty", Duty)
def test_every_refusal_says_what_the_role_does_not_allow(duty: Duty) -> None:
    for realm in Realm:
        page = refuse_duty(realm, duty)

        assert page.status_code == 403
        assert b"Your role does not allow you to " in page.body


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/console/audit", "do support work, such as handling issues and orders"),
        ("/console/people", "do admin work, such as changing merchants"),
    ],
)
def test_somebody_who_is_refused_reads_whose_work_it_is(
    server: Server, database: Database, path: str, said: str
) -> None:
    refused = words_of(open_console(server, database, Role.VIEWER).open(path))

    assert f"Your role does not allow you to {said}" in refused
    assert "Ask an admin for access." in refused
