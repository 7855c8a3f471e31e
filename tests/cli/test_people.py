"""`printworks operator`, and a merchant's people."""

import json
from pathlib import Path

import pytest

from printworks.rules.people import Realm, Role
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.invitations import Invitation, find_invitation
from printworks.store.accounts.people import NewPerson, find_person, insert_person
from tests.cli.operators import Operator
from tests.cli.program import run
from tests.factories import NOON

LINK = "https://localhost:8443/invitations/"

# A database that is there: to migrate another one would take a second of each test.
pytestmark = pytest.mark.usefixtures("sqlite_url")


def find(keeper: Operator, link: str) -> Invitation:
    """Return whom a link lets in."""
    assert link.startswith(LINK)
    with keeper.database.reading() as db:
        found = find_invitation(db, link.removeprefix(LINK), now=NOON)
    assert found is not None
    return found


def add_person(keeper: Operator, email: str, role: Role, merchant_id: int | None = None) -> None:
    """Add somebody who can sign in already."""
    with keeper.database.writing() as db:
        insert_person(
            db,
            NewPerson(
                realm=Realm.OPERATOR if merchant_id is None else Realm.MERCHANT,
                email=email,
                role=role,
                merchant_id=merchant_id,
                password_hash="x",
            ),
            now=NOON,
        )


def test_an_operator_is_invited_listed_changed_and_removed(keeper: Operator) -> None:
    said = keeper.asks("operator", "invite", "Pat@works.example", "--role", "admin").said
    invitation = find(keeper, said.splitlines()[0])
    add_person(keeper, "pat@works.example", Role.ADMIN)
    add_person(keeper, "kim@works.example", Role.VIEWER)

    listed = keeper.reads("operator", "list")
    changed = keeper.asks("operator", "role", "kim@works.example", "admin")
    reset = find(keeper, keeper.reads("operator", "reset", "PAT@works.example")["link"])
    removed = keeper.asks("operator", "remove", "pat@works.example")
    refused = keeper.asks("operator", "remove", "kim@works.example")

    assert (invitation.realm, invitation.role) == (Realm.OPERATOR, Role.ADMIN)
    assert invitation.email == "pat@works.example"
    assert [(one["email"], one["role"]) for one in listed] == [
        ("kim@works.example", "viewer"),
        ("pat@works.example", "admin"),
    ]
    assert changed.said == "kim@works.example is now: admin.\n"
    assert reset.person_id is not None
    assert removed.said == "pat@works.example cannot sign in any more.\n"
    assert refused.code == 1
    assert refused.complained.startswith("printworks: kim@works.example is the only admin.")
    with keeper.database.reading() as db:
        entries = list_audit(db, limit=9)
        assert find_person(db, Realm.OPERATOR, "kim@works.example") is not None
    assert {entry.who for entry in entries} == {"command line"}
    assert [entry.action for entry in entries] == [
        "remove-operator",
        "reset-password",
        "change-role",
        "invite-operator",
    ]


def test_a_merchant_and_its_people_are_invited(keeper: Operator) -> None:
    code = keeper.merchant.code
    add_person(keeper, "owner@shop.example", Role.OWNER, keeper.merchant.id)

    new = find(keeper, keeper.reads("merchant", "invite", "new@shop.example")["link"])
    colleague = find(
        keeper, keeper.reads("merchant", "invite-colleague", code, "c@shop.example")["link"]
    )
    reset = find(keeper, keeper.reads("merchant", "reset", "owner@shop.example")["link"])
    people = keeper.asks("merchant", "people", code)

    assert (new.realm, new.merchant_id, new.person_id) == (Realm.MERCHANT, None, None)
    assert colleague.merchant_id == keeper.merchant.id
    assert reset.person_id is not None
    assert "owner@shop.example" in people.said


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["operator", "reset", "nobody@x.example"], "Nobody signs in with the address"),
        (["operator", "remove", "no address"], "Enter an email address"),
        (["operator", "invite", "p@x.example", "--role", "owner"], "An operator's role is one of"),
        (["merchant", "people", "nobody"], "There is no merchant 'nobody'."),
        (["merchant", "invite-colleague", "nobody", "p@x.example"], "There is no merchant"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    tmp_path: Path, words: list[str], sentence: str
) -> None:
    ended = run(*words, "--data", tmp_path)

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained.startswith(f"printworks: {sentence}")


def test_lists_without_anybody_say_so(tmp_path: Path) -> None:
    added = json.loads(run("merchant", "add", "A shop", "--json", "--data", tmp_path).said)

    people = run("merchant", "people", added["merchantId"], "--data", tmp_path)
    operators = run("operator", "list", "--data", tmp_path)

    assert people.said == f"Nobody can sign in for {added['merchantId']} yet.\n"
    assert operators.said == "Nobody can sign in to the console yet.\n"
