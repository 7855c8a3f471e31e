"""Issues as the 2.x family shows and takes them. Here all numbers of things are texts."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from printworks.errors import BadInput
from printworks.rules.issues import (
    ACTION_DESCRIPTIONS,
    DESCRIPTIONS,
    MOST_IMAGES,
    IssueAction,
    IssueKind,
    IssueState,
    Remark,
    write_commentary,
)
from printworks.store.issues.issues import Issue, NewIssue
from printworks.wire.reading import Reader, text

LONGEST: Final = 2000
# What a list in a form may be wrapped in.
_WRAPPING: Final = " \t\r\n[]\"'"
# No image has a longer number, and Python does not even read one of thousands of digits.
_MOST_DIGITS: Final = 19

Detail = Annotated[str, Meta(max_length=LONGEST), text(LONGEST)]


def _read_image_ids(name: str, value: object) -> list[int]:
    """Read a list of numbers or texts, or a text with commas; forms number their members."""
    if isinstance(value, Mapping):
        value = list(value.values())
    given = value if isinstance(value, list) else [value]
    parts = [part for element in given for part in _split_at_commas(element)]
    if len(parts) > MOST_IMAGES:
        raise BadInput(f"`{name}` must have at most {MOST_IMAGES} elements.")
    # Named twice is meant once.
    return list(dict.fromkeys(_read_image_id(name, part) for part in parts))


def _split_at_commas(element: object) -> list[object]:
    """Return what an element names: nothing if it is empty, as the only one of a form may be."""
    if not isinstance(element, str):
        return [element]
    return [part for part in element.split(",") if part.strip(_WRAPPING)]


def _read_image_id(name: str, value: object) -> int:
    is_plain = isinstance(value, int | str) and not isinstance(value, bool)
    digits = str(value).strip(_WRAPPING) if is_plain else ""
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    if not is_number:
        raise BadInput(f"`{name}` must be the IDs of images, as a list or separated by commas.")
    return int(digits)


ImageIds = Annotated[list[int], Meta(max_length=MOST_IMAGES), Reader(_read_image_ids)]


class CreateIssue(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with an order, and what should be done about it."""

    # What is sent empty is not given yet: nothing in particular.
    issue: IssueKind | None
    action: IssueAction | None
    issueDetail: Detail | None = None
    actionDetail: Detail | None = None
    affectedImages: ImageIds | None = None

    def to_new_issue(self) -> NewIssue:
        return NewIssue(
            kind=self.issue or IssueKind.UNSPECIFIED,
            detail=self.issueDetail,
            action=self.action or IssueAction.OTHER,
            action_detail=self.actionDetail,
            image_ids=self.affectedImages or [],
        )


class UpdateIssue(msgspec.Struct, frozen=True, kw_only=True):
    """What is new about an issue; `newState` can only be cancelled."""

    newState: IssueState | None = None
    comment: Detail | None = None


class IssueOut(msgspec.Struct, frozen=True, kw_only=True):
    """A complaint about an order, and what became of it."""

    id: str
    issue: IssueKind
    issueDescription: str
    issueDetail: str | None
    action: IssueAction
    actionDescription: str
    actionDetail: str | None
    orderId: str
    affectedImages: list[str]
    issueState: IssueState
    commentary: str
    errorMessage: str | None = None

    @classmethod
    def of(cls, issue: Issue, remarks: Iterable[Remark]) -> Self:
        return cls(
            id=str(issue.id),
            issue=issue.kind,
            issueDescription=DESCRIPTIONS[issue.kind],
            issueDetail=issue.detail,
            action=issue.action,
            actionDescription=ACTION_DESCRIPTIONS[issue.action],
            actionDetail=issue.action_detail,
            orderId=str(issue.order_id),
            affectedImages=[str(image_id) for image_id in issue.image_ids],
            issueState=issue.state,
            commentary=write_commentary(remarks),
        )


class IssueListOut(msgspec.Struct, frozen=True, kw_only=True):
    """The issues of an order, under both names by which clients look for them."""

    issues: list[IssueOut]
    Issues: list[IssueOut]
    errorMessage: str | None = None

    @classmethod
    def of(cls, issues: Sequence[Issue], remarks: Mapping[int, Sequence[Remark]]) -> Self:
        shown = [IssueOut.of(issue, remarks.get(issue.id, ())) for issue in issues]
        return cls(issues=shown, Issues=shown)
