"""How the 2.x family reads complaints: generously."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import BadInput
from printworks.rules.issues import IssueAction, IssueKind, IssueState
from printworks.wire.reading import read
from printworks.wire.v2.issues import CreateIssue, UpdateIssue


def read_images(sent: object) -> list[int]:
    """Read the affected images of an issue."""
    body = {"issue": "DamagedOrder", "action": "Refund", "affectedImages": sent}
    return list(read(CreateIssue, body).to_new_issue().image_ids)


@pytest.mark.parametrize(
    "sent",
    [
        [7, 12],
        ["7", "12"],
        ["7", 12, 7],
        "7,12",
        " 7 , 12 ,",
        "[7, 12]",
        '["7","12"]',
        {"0": "7", "1": "12"},
    ],
)
def test_images_are_read_in_every_form_that_clients_send(sent: object) -> None:
    assert read_images(sent) == [7, 12]


@pytest.mark.parametrize("sent", [7, "7", [7]])
def test_a_single_image_needs_no_list(sent: object) -> None:
    assert read_images(sent) == [7]


@pytest.mark.parametrize("sent", [None, "", "  ", [], "[]", ","])
def test_no_images_are_none(sent: object) -> None:
    assert read_images(sent) == []


@pytest.mark.parametrize(
    "sent", ["cat", [True], [1.5], [-1], [[1]], [{}], True, "1;2", ["9" * 20], ["\u0661"], [None]]
)
def test_what_is_no_image_is_refused_by_name(sent: object) -> None:
    with pytest.raises(BadInput, match="`affectedImages`"):
        read_images(sent)


def test_too_many_images_are_refused() -> None:
    with pytest.raises(BadInput, match="at most 1000"):
        read_images(list(range(1001)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(sent=JSON)
def test_whatever_is_sent_is_read_or_refused(sent: Any) -> None:
    try:
        found = read_images(sent)
    except BadInput:
        return
    assert all(image_id >= 0 for image_id in found)


def test_names_and_values_are_read_in_any_case() -> None:
    new = read(CreateIssue, {"ISSUE": "damagedorder", "Action": "REPRINT"}).to_new_issue()

    assert (new.kind, new.action) == (IssueKind.DAMAGED_ORDER, IssueAction.REPRINT)
    assert read(UpdateIssue, {"NewState": "Cancelled"}).newState is IssueState.CANCELLED


@pytest.mark.parametrize("missing", ["issue", "action"])
def test_what_is_missing_is_named(missing: str) -> None:
    body = {"issue": "DamagedOrder", "action": "Refund"}
    del body[missing]

    with pytest.raises(BadInput, match=f"`{missing}` is required"):
        read(CreateIssue, body)


def test_what_is_sent_empty_is_not_given_yet() -> None:
    new = read(CreateIssue, {"issue": "", "action": ""}).to_new_issue()

    assert (new.kind, new.action) == (IssueKind.UNSPECIFIED, IssueAction.OTHER)
