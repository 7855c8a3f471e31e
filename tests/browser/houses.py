"""The real program with people at its pages, for tests in a real browser."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect

from printworks.actions.accounts.people import invite_operator
from printworks.rules.people import Role
from printworks.store.engine.database import Database
from tests.factories import a_system_work
from tests.running import Service, running

PASSWORD: Final = "correct horse battery"


@dataclass(frozen=True)
class House:
    """A running service, and its database."""

    service: Service
    database: Database

    def at(self, path: str) -> str:
        """Return the address of a page."""
        return f"https://localhost:{self.service.port}{path}"

    def sign_up(self, page: Page, shop: str, email: str) -> None:
        """Open an account, as a newcomer does."""
        page.goto(self.at("/sign-up"))
        page.get_by_label("Shop name").fill(shop)
        page.get_by_label("Email address").fill(email)
        page.get_by_label("Password").fill(PASSWORD)
        press(page, "Create account")
        expect(page).to_have_url(self.at("/home"))

    def enter_console(self, page: Page, email: str, role: Role = Role.ADMIN) -> None:
        """Enter the console by an invitation."""
        with self.database.writing() as db:
            token = invite_operator(a_system_work(db, now=datetime.now(UTC)), email, role)
        page.goto(self.at(f"/invitations/{token}"))
        page.get_by_label("Password").fill(PASSWORD)
        press(page, "Accept invitation")
        expect(page).to_have_url(self.at("/console"))


@contextmanager
def open_house(data: Path, **settings: str) -> Iterator[House]:
    """Run the program during the block."""
    with running(data, **settings) as service:
        database = Database(settings.get("database_url", f"sqlite:///{data / 'printworks.db'}"))
        yield House(service, database)
        database.close()


def press(page: Page, name: str) -> None:
    """Press the first button that is called so."""
    page.get_by_role("button", name=name, exact=True).first.click()
