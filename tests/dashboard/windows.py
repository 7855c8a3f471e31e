"""A window of somebody who is signed in, without drawing anything.

page = alice.open("/orders")
answer = alice.do("/orders/7", "cancel-order", reason="…")   # opens the page, takes its token
assert "The order was cancelled." in alice.follow(answer)
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from argon2 import PasswordHasher
from sqlalchemy import Connection

from printworks.rules.people import Realm, Role
from printworks.store.accounts.merchants import Merchant, get_merchant, get_merchant_by_code
from printworks.store.accounts.people import NewPerson, Person, insert_person
from printworks.store.accounts.sessions import NewSession, begin_session
from printworks.store.engine.database import Database
from tests.api.client import Client, Server
from tests.dashboard.visits import FORM, words_of
from tests.factories import NOON
from tests.running import Answer

PASSWORD: Final = "correct horse battery"
# As cheap as it gets: the cost of a comparison is that of the hash.
HASH: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
COOKIES: Final = {
    Realm.MERCHANT: "__Host-printworks",
    Realm.OPERATOR: "__Host-printworks-console",
}
HERE: Final = NewSession(address="127.0.0.1", user_agent="A browser")
BOUNDARY: Final = "a-boundary-of-our-own"


@dataclass
class Window:
    """Somebody's browser."""

    browser: Client
    cookies: dict[str, str] = field(default_factory=dict)
    # The same merchant's program, if it is a merchant's window.
    program: Client | None = None
    person: Person | None = None

    @property
    def api(self) -> Client:
        """The same merchant's program."""
        assert self.program is not None
        return self.program

    @property
    def code(self) -> str:
        """By which id the merchant is known."""
        return self.api.credentials["X-Service-MerchantId"]

    @property
    def cookie(self) -> str:
        """What the browser would send."""
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def open(self, address: str, **headers: str) -> Answer:
        """Open a page."""
        return self._ask("GET", address, b"", headers)

    def words(self, address: str) -> str:
        """Open a page and return what it says."""
        page = self.open(address)
        assert page.status == 200, (page.status, page.headers)
        return words_of(page)

    def token(self, address: str) -> str:
        """Return the token of a page's forms."""
        return find_token(self.open(address))

    def send(self, address: str, fields: dict[str, Any], **headers: str) -> Answer:
        """Send a form as it is, without looking at the page first."""
        body = urlencode(fields, doseq=True).encode()
        return self._ask("POST", address, body, {"Content-Type": FORM, **headers})

    def do(self, address: str, form_action: str, **fields: Any) -> Answer:
        """Open a page and ask for one of its form actions."""
        return self.send(address, {"form_token": self.token(address), "do": form_action, **fields})

    def upload(
        self, address: str, form_action: str, files: list[tuple[str, str, bytes]], **fields: str
    ) -> Answer:
        """Open a page and ask for a form action with files: (field, file name, content) each."""
        values = {"form_token": self.token(address), "do": form_action, **fields}
        parts = [
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in values.items()
        ]
        parts += [
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"; filename="{file}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n".encode()
            + content
            + b"\r\n"
            for name, file, content in files
        ]
        body = b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        return self._ask("POST", address, body, {"Content-Type": kind})

    def look_again(self, page: Answer) -> Answer:
        """Ask for what is new, as the page does by itself."""
        # The bell, which asks for itself, has no such address.
        [address] = re.findall(r'hx-get="([^"]*seen=[^"]*)"', page.body.decode())
        return self.open(address.replace("&amp;", "&"), HX_Request="true")

    def follow(self, answer: Answer) -> str:
        """Go where an answer sends the browser, and return what that page says."""
        assert answer.status == 303, (answer.status, words_of(answer))
        return self.words(answer.headers["location"])

    def _ask(self, method: str, address: str, body: bytes, headers: dict[str, str]) -> Answer:
        cookie = {"Cookie": self.cookie} if self.cookies else {}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = self.browser.request(method, address, body, {**cookie, **named})
        if given := answer.headers.get("set-cookie"):
            name, value = given.partition(";")[0].split("=", 1)
            self.cookies[name] = value.strip('"')
            if not self.cookies[name]:
                del self.cookies[name]
        return answer


def merchant_of(db: Connection, window: Window) -> Merchant:
    """Return whose window it is."""
    assert window.person is not None
    assert window.person.merchant_id is not None
    return get_merchant(db, window.person.merchant_id)


def find_token(page: Answer) -> str:
    """Return the token of a page's forms, all of which carry the same."""
    found = set(re.findall(r'name="form_token" value="([0-9a-f]+)"', page.body.decode()))
    assert len(found) == 1, (page.status, found, words_of(page)[:500])
    return str(found.pop())


def open_merchants_window(
    server: Server, database: Database, program: Client, *, now: datetime = NOON
) -> Window:
    """Let somebody look at the dashboard of a merchant whose program there is already."""
    code = program.credentials["X-Service-MerchantId"]
    with database.writing() as db:
        merchant = get_merchant_by_code(db, code)
        person = insert_person(
            db,
            NewPerson(
                realm=Realm.MERCHANT,
                email=f"{code}@shop.example",
                role=Role.OWNER,
                merchant_id=merchant.id,
                password_hash=HASH,
            ),
            now=now,
        )
        token = begin_session(db, person, HERE, now=now)
    return Window(Client(server, "", {}), {COOKIES[Realm.MERCHANT]: token}, program, person)


def open_colleagues_window(
    server: Server, database: Database, owner: Window, role: Role, *, now: datetime = NOON
) -> Window:
    """Let a colleague of somebody with a window look at the same dashboard."""
    assert owner.person is not None
    with database.writing() as db:
        person = insert_person(
            db,
            NewPerson(
                realm=Realm.MERCHANT,
                email=f"{role}@shop.example",
                role=role,
                merchant_id=owner.person.merchant_id,
                password_hash=HASH,
            ),
            now=now,
        )
        token = begin_session(db, person, HERE, now=now)
    return Window(Client(server, "", {}), {COOKIES[Realm.MERCHANT]: token}, owner.program, person)


def open_console(
    server: Server,
    database: Database,
    role: Role = Role.ADMIN,
    *,
    email: str = "",
    now: datetime = NOON,
) -> Window:
    """Let an operator look at the console."""
    with database.writing() as db:
        person = insert_person(
            db,
            NewPerson(
                realm=Realm.OPERATOR,
                email=email or f"{role}@works.example",
                role=role,
                merchant_id=None,
                password_hash=HASH,
            ),
            now=now,
        )
        token = begin_session(db, person, HERE, now=now)
    return Window(Client(server, "", {}), {COOKIES[Realm.OPERATOR]: token}, None, person)
