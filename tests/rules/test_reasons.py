"""An order may have several reasons not to go ahead, each with its own beginning and end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.reasons import (
    UNPAID,
    Reason,
    ReasonCode,
    StoredReasons,
    add_reason,
    drop_reasons,
    has_reason,
    read_reasons,
    write_reasons,
)

REASONS = st.builds(
    Reason,
    code=st.sampled_from(ReasonCode),
    subject=st.none() | st.integers(1, 9),
    detail=st.sampled_from(["", "The bank declined the card."]),
)


def store(*reasons: Reason) -> StoredReasons:
    """Store reasons one after the other."""
    stored: StoredReasons = None
    for reason in reasons:
        stored = add_reason(stored, reason)
    return stored


def test_a_second_reason_does_not_replace_the_first() -> None:
    stored = store(
        Reason(ReasonCode.IMAGE_FAILED, 7, "The file is empty."),
        Reason(ReasonCode.SHIPMENT_HELD, 3),
    )

    assert write_reasons(stored) == (
        "Image 7 cannot be printed. The file is empty. Shipment 3 is held; we are looking into it."
    )


def test_people_read_the_name_of_an_image_where_it_is_known() -> None:
    stored = store(
        Reason(ReasonCode.IMAGE_FAILED, 7, "The file is empty."),
        Reason(ReasonCode.IMAGE_FAILED, 8),
        Reason(ReasonCode.SHIPMENT_HELD, 7),
    )

    assert write_reasons(stored, {7: "beach.jpg"}) == (
        "beach.jpg cannot be printed. The file is empty. Image 8 cannot be printed. "
        "Shipment 7 is held; we are looking into it."
    )


def test_the_same_again_is_one_reason_with_the_newest_detail() -> None:
    stored = store(
        Reason(ReasonCode.PAYMENT_REFUSED, detail="The card has expired."),
        Reason(ReasonCode.PAYMENT_REFUSED, detail="The bank declined the card."),
    )

    assert write_reasons(stored) == "The order was not paid for. The bank declined the card."


def test_paying_drops_what_paying_mends_and_nothing_else() -> None:
    stored = store(
        Reason(ReasonCode.NOT_PAID_IN_TIME),
        Reason(ReasonCode.PACKING_SLIP_FAILED, detail="It is no picture."),
    )

    left = drop_reasons(stored, UNPAID)

    assert [reason.code for reason in read_reasons(left)] == [ReasonCode.PACKING_SLIP_FAILED]


def test_what_is_dropped_may_be_that_of_one_subject() -> None:
    stored = store(Reason(ReasonCode.SHIPMENT_HELD, 3), Reason(ReasonCode.SHIPMENT_HELD, 4))

    left = drop_reasons(stored, {ReasonCode.SHIPMENT_HELD}, subject=3)

    assert read_reasons(left) == [Reason(ReasonCode.SHIPMENT_HELD, 4)]


def test_without_reasons_nothing_is_stored_and_nothing_said() -> None:
    assert drop_reasons(store(Reason(ReasonCode.NOT_PAID_IN_TIME)), UNPAID) is None
    assert write_reasons(None) is None
    assert not has_reason(None, ReasonCode.NOT_PAID_IN_TIME)


@pytest.mark.parametrize("code", ReasonCode)
def test_every_code_has_a_sentence(code: ReasonCode) -> None:
    said = write_reasons(store(Reason(code, 5, "So it is.")))

    assert said is not None
    assert said.endswith(".")
    assert "{" not in said


@given(st.lists(REASONS, max_size=8))
def test_no_two_have_the_same_code_and_subject(reasons: list[Reason]) -> None:
    found = read_reasons(store(*reasons))

    kinds = [(reason.code, reason.subject) for reason in found]
    assert len(kinds) == len(set(kinds))
    assert set(kinds) <= {(reason.code, reason.subject) for reason in reasons}
    assert all(has_reason(store(*reasons), reason.code) for reason in reasons)
