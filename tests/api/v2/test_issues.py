"""Complaints about orders, through the older versions."""

from typing import Any

import pytest
from sqlalchemy import update

from printworks.actions.issues.issues import dismiss_issue, take_issue
from printworks.rules.issues import IssueAction, IssueKind
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from printworks.store.tables import orders
from tests.api.client import Client
from tests.api.v2.shop import add, create, put_in_query, see, seen, set_status, submit
from tests.factories import NOON, a_system_work

NO_ISSUE = "The issue with the specified id was not found"
NO_ORDER = "The order with the specified id was not found"
NOBODYS = ["0", "999", "cat", "-1", "12345678901234567890"]


def an_issue(**members: Any) -> dict[str, Any]:
    """Say what makes a valid issue."""
    return {"issue": "DamagedOrder", "action": "Reprint", **members}


def complain(client: Client, order_id: int, **members: Any) -> dict[str, Any]:
    """Complain about an order and return the issue."""
    issue: dict[str, Any] = seen(client.post(f"/Orders/{order_id}/Issues", an_issue(**members)))
    return issue


def path_of(issue: dict[str, Any]) -> str:
    """Return the path of an issue."""
    return f"/Orders/{issue['orderId']}/Issues/{issue['id']}"


def is_refusal(body: dict[str, Any], message: str) -> bool:
    """Say whether a body has every member of an issue, all null but the reason."""
    members = {"id", "issue", "issueDetail", "action", "actionDetail", "orderId"}
    members |= {"affectedImages", "issueState", "commentary"}
    nothing = {name for name, value in body.items() if value is None}
    return members <= nothing and body["errorMessage"] == message


class TestCreating:
    @pytest.mark.both_databases
    @pytest.mark.every_version
    def test_an_issue_is_shown_as_the_contract_says(self, v2: Client) -> None:
        order_id = submit(v2)
        photo_id = see(v2, order_id)["photos"][0]["id"]

        issue = complain(
            v2,
            order_id,
            issueDetail="It is torn.",
            actionDetail="Quickly.",
            affectedImages=[photo_id],
        )

        assert issue == {
            "id": issue["id"],
            "issue": "DamagedOrder",
            "issueDescription": "The order arrived damaged.",
            "issueDetail": "It is torn.",
            "action": "Reprint",
            "actionDescription": "The merchant wants it printed again.",
            "actionDetail": "Quickly.",
            "orderId": str(order_id),
            "affectedImages": [str(photo_id)],
            "issueState": "Open",
            "commentary": "2026-11-15 12:00:00 Merchant: Issue created.",
            "errorMessage": None,
        }
        assert issue["id"].isdecimal()

    @pytest.mark.parametrize("kind", IssueKind)
    def test_every_kind_of_issue_is_taken_in_any_case(self, v2_3: Client, kind: str) -> None:
        assert complain(v2_3, submit(v2_3), Issue=kind.upper(), issue=kind.lower())["issue"] == kind

    @pytest.mark.parametrize("action", IssueAction)
    def test_every_action_is_taken_in_any_case(self, v2_3: Client, action: str) -> None:
        assert complain(v2_3, submit(v2_3), action=action.upper())["action"] == action

    def test_a_form_is_as_good_as_json(self, v2: Client) -> None:
        order_id = create(v2)
        ids = [str(add(v2, order_id)["id"]) for _ in range(2)]
        assert set_status(v2, order_id, "Submitted").status == 200
        form = {"issue": "PrintDefects", "action": "refund", "affectedImages": ",".join(ids)}

        issue = seen(v2.post_form(f"/Orders/{order_id}/Issues", form))

        assert issue["affectedImages"] == ids

    @pytest.mark.parametrize("name", ["affectedImages", "affectedImages[]", "AffectedImages"])
    def test_images_may_be_named_by_a_repeated_key_of_a_form(self, v2: Client, name: str) -> None:
        order_id = create(v2)
        ids = [str(add(v2, order_id)["id"]) for _ in range(3)]
        form = [("issue", "PrintDefects"), ("action", "Refund"), *((name, one) for one in ids)]

        issue = seen(v2.post_form(f"/Orders/{order_id}/Issues", form))

        assert issue["affectedImages"] == ids

    def test_a_repeated_key_may_have_several_ids_or_none_at_all(self, v2: Client) -> None:
        order_id = create(v2)
        ids = [str(add(v2, order_id)["id"]) for _ in range(3)]
        form = [("issue", "PrintDefects"), ("action", "Refund"), ("affectedImages[]", "")]
        named = [("affectedImages[]", ",".join(ids[:2])), ("affectedImages[]", ids[2])]

        none = seen(v2.post_form(f"/Orders/{order_id}/Issues", form))
        all_of_them = seen(v2.post_form(f"/Orders/{order_id}/Issues", [*form, *named]))

        assert (none["affectedImages"], all_of_them["affectedImages"]) == ([], ids)

    @pytest.mark.parametrize(
        ("members", "sentence"),
        [
            ({"issue": None}, "`issue` is required."),
            ({"action": None}, "`action` is required."),
            ({"issue": "TooBlue"}, "`issue` must be one of DamagedOrder, "),
            ({"action": "Apologise"}, "`action` must be one of Refund, Reprint, NoAction, Other."),
            ({"affectedImages": ["cat"]}, "`affectedImages` must be the IDs of photos"),
            ({"affectedImages": "999"}, "`affectedImages` names 999"),
            ({"issueDetail": "x" * 2001}, "`issueDetail` must have at most 2000 characters."),
            ({"issueDetail": "\0"}, "`issueDetail` contains a control character."),
        ],
    )
    def test_what_is_wrong_is_named(
        self, v2_3: Client, members: dict[str, Any], sentence: str
    ) -> None:
        answer = v2_3.post(f"/Orders/{submit(v2_3)}/Issues", an_issue(**members))

        assert answer.status == 400
        assert sentence in answer.error
        assert is_refusal(answer.json(), answer.error)

    @pytest.mark.every_version
    @pytest.mark.parametrize("status", OrderStatus)
    def test_an_issue_of_every_kind_is_taken_in_every_state(
        self, v2: Client, database: Database, status: OrderStatus
    ) -> None:
        order_id = create(v2)
        with database.writing() as db:
            db.execute(update(orders).where(orders.c.id == order_id).values(status=status))

        opened = [complain(v2, order_id, issue=kind) for kind in IssueKind]

        assert [issue["issue"] for issue in opened] == list(IssueKind)
        for issue in opened:
            assert "Issue created" in issue["commentary"].splitlines()[0]

    @pytest.mark.parametrize("order_id", NOBODYS)
    def test_an_order_that_does_not_exist_is_not_found(self, v2: Client, order_id: str) -> None:
        answer = v2.post(f"/Orders/{order_id}/Issues", {})

        assert answer.status == 404
        assert is_refusal(answer.json(), NO_ORDER)


class TestReading:
    @pytest.mark.both_databases
    @pytest.mark.every_version
    def test_an_issue_can_be_read_and_is_in_the_list_under_both_names(self, v2: Client) -> None:
        order_id = submit(v2)
        issues = [complain(v2, order_id), complain(v2, order_id, issue="SlowArrival")]

        assert [seen(v2.get(path_of(issue))) for issue in issues] == issues
        listed = seen(v2.get(f"/Orders/{order_id}/Issues"))
        assert listed == {"issues": issues, "Issues": issues, "errorMessage": None}

    def test_an_order_without_issues_has_an_empty_list(self, v2: Client) -> None:
        listed = seen(v2.get(f"/orders/{submit(v2)}/ISSUES/"))

        assert listed == {"issues": [], "Issues": [], "errorMessage": None}

    def test_an_issue_of_another_order_is_a_mistake(self, v2: Client) -> None:
        other, issue = submit(v2), complain(v2, submit(v2))

        answer = v2.get(f"/Orders/{other}/Issues/{issue['id']}")

        assert answer.status == 400
        assert is_refusal(answer.json(), f"Issue {issue['id']} is not about order {other}.")

    @pytest.mark.parametrize("issue_id", NOBODYS)
    def test_an_issue_that_does_not_exist_is_not_found(self, v2: Client, issue_id: str) -> None:
        answer = v2.get(f"/Orders/{submit(v2)}/Issues/{issue_id}")

        assert answer.status == 404
        assert is_refusal(answer.json(), NO_ISSUE)

    def test_the_list_of_an_order_that_does_not_exist_is_not_found(self, v2: Client) -> None:
        answer = v2.get("/Orders/999/Issues")

        assert answer.status == 404
        assert answer.json() == {"issues": None, "Issues": None, "errorMessage": NO_ORDER}

    @pytest.mark.every_version
    def test_an_issue_is_readable_through_every_version(
        self, v2_3: Client, v2_5: Client, v2_6: Client
    ) -> None:
        issue = complain(v2_5, submit(v2_3))

        assert seen(v2_6.get(path_of(issue))) == seen(v2_3.get(path_of(issue))) == issue


class TestUpdating:
    @pytest.mark.both_databases
    @pytest.mark.every_version
    def test_a_comment_is_appended_to_the_commentary(self, v2: Client) -> None:
        issue = complain(v2, submit(v2))

        updated = seen(v2.put(path_of(issue), {"comment": "Any news?"}))

        assert updated["commentary"] == (
            f"{issue['commentary']}\n2026-11-15 12:00:00 Merchant: Any news?"
        )
        assert seen(v2.get(path_of(issue))) == updated

    @pytest.mark.parametrize("spelling", ["cancelled", "Cancelled", "CANCELLED"])
    @pytest.mark.both_databases
    def test_an_issue_can_be_cancelled(self, v2: Client, spelling: str) -> None:
        issue = complain(v2, submit(v2))

        updated = seen(v2.put(path_of(issue), {"newState": spelling, "comment": "Found it."}))

        assert updated["issueState"] == "cancelled"
        assert updated["commentary"].splitlines()[1:] == [
            "2026-11-15 12:00:00 Merchant: State changed from Open to cancelled.",
            "2026-11-15 12:00:00 Merchant: Found it.",
        ]

    def test_fields_may_come_in_the_query(self, v2: Client) -> None:
        issue = complain(v2, submit(v2))

        updated = seen(put_in_query(v2, path_of(issue), newState="cancelled"))

        assert updated["issueState"] == "cancelled"

    def test_the_state_that_it_has_is_refused(self, v2: Client) -> None:
        issue = complain(v2, submit(v2))
        seen(v2.put(path_of(issue), {"newState": "cancelled"}))

        answer = v2.put(path_of(issue), {"newState": "cancelled", "comment": "Again."})

        assert answer.status == 400
        assert is_refusal(answer.json(), "The issue is cancelled already.")
        assert "Again." not in seen(v2.get(path_of(issue)))["commentary"]

    @pytest.mark.parametrize("state", ["Open", "InProgress", "ClosedResolved", "Happy"])
    def test_no_other_state_can_be_set(self, v2_3: Client, state: str) -> None:
        issue = complain(v2_3, submit(v2_3))

        assert v2_3.put(path_of(issue), {"newState": state}).status == 400

    def test_what_was_settled_can_be_cancelled(self, v2: Client, database: Database) -> None:
        issue = complain(v2, submit(v2))
        with database.writing() as db:
            take_issue(a_system_work(db, now=NOON), int(issue["id"]), comment="We look into it.")
            dismiss_issue(a_system_work(db, now=NOON), int(issue["id"]), comment="It was on time.")

        seen(v2.put(path_of(issue), {"newState": "cancelled"}))

        assert seen(v2.get(path_of(issue)))["issueState"] == "cancelled"

    @pytest.mark.parametrize("body", [None, {}, {"comment": "", "newState": ""}])
    def test_nothing_new_changes_nothing(self, v2_3: Client, body: Any) -> None:
        issue = complain(v2_3, submit(v2_3))

        assert seen(v2_3.put(path_of(issue), body)) == issue

    @pytest.mark.parametrize("issue_id", NOBODYS)
    def test_an_issue_that_does_not_exist_is_not_found(self, v2_3: Client, issue_id: str) -> None:
        answer = v2_3.put(f"/Orders/{submit(v2_3)}/Issues/{issue_id}", {"comment": "Hello?"})

        assert answer.status == 404
        assert is_refusal(answer.json(), NO_ISSUE)


@pytest.mark.every_version
def test_somebody_elses_issues_do_not_exist(v2: Client, somebody_else: Client) -> None:
    issue = complain(v2, submit(v2))
    mine = submit(somebody_else)
    about_it = f"/Orders/{issue['orderId']}/Issues"

    answers = [
        somebody_else.get(about_it),
        somebody_else.post(about_it, an_issue()),
        somebody_else.get(path_of(issue)),
        somebody_else.put(path_of(issue), {"newState": "cancelled"}),
    ]
    through_my_order = somebody_else.get(f"/Orders/{mine}/Issues/{issue['id']}")
    nobodys = somebody_else.get(f"/Orders/{mine}/Issues/999")

    assert [(answer.status, answer.error) for answer in answers] == [(404, NO_ORDER)] * 4
    assert (through_my_order.status, through_my_order.body) == (nobodys.status, nobodys.body)
    assert seen(v2.get(path_of(issue))) == issue
