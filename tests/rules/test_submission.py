"""What an order lacks before it can be submitted, and what is merely doubtful."""

from typing import Any

import pytest

from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.sizing import Pixels, PrintArea, Sizing, Units, place
from printworks.rules.submission import (
    ERROR_OF_STATUS,
    Findings,
    GeneralError,
    ImageError,
    ImageFacts,
    ImageWarning,
    Obstacle,
    PostalAddress,
    ProductFit,
    examine_image,
    explain_state,
    find_general_errors,
    find_image_errors,
    find_size_warnings,
)

FINE = Findings(image_id=1, sku="PHOTO", errors=[], warnings=[])

COMPLETE: dict[str, Any] = {
    "recipient_name": "Mary Fox",
    "address1": "1 High Street",
    "town_or_city": "London",
    "postal_code": "SW1A 1AA",
    "destination_country": "GB",
}
ADDRESS = PostalAddress(**COMPLETE)

AREA = PrintArea.of(4, 6, Units.INCHES)
RECOMMENDED = Pixels(600, 900)


class TestTheOrderAsAWhole:
    def test_a_complete_order_lacks_nothing(self) -> None:
        assert find_general_errors(ADDRESS, [FINE]) == []

    def test_an_order_needs_an_image(self) -> None:
        errors = find_general_errors(ADDRESS, [])

        assert errors == [GeneralError.NO_ITEMS_IN_ORDER]

    @pytest.mark.parametrize("name", sorted(COMPLETE))
    @pytest.mark.parametrize("value", [None, ""])
    def test_an_order_needs_its_whole_address(self, name: str, value: str | None) -> None:
        errors = find_general_errors(PostalAddress(**{**COMPLETE, name: value}), [FINE])

        assert errors == [GeneralError.POSTAL_ADDRESS_NOT_SET]

    def test_a_missing_address_is_said_once(self) -> None:
        nothing = PostalAddress(**dict.fromkeys(COMPLETE))

        assert find_general_errors(nothing, [FINE]) == [GeneralError.POSTAL_ADDRESS_NOT_SET]

    def test_a_dash_will_do_where_there_are_no_postcodes(self) -> None:
        assert find_general_errors(PostalAddress(**{**COMPLETE, "postal_code": "-"}), [FINE]) == []

    def test_one_image_with_an_error_is_enough(self) -> None:
        wrong = Findings(image_id=2, sku="PHOTO", errors=[ImageError.ZERO_COPIES], warnings=[])

        errors = find_general_errors(ADDRESS, [FINE, wrong])

        assert errors == [GeneralError.ITEMS_CONTAINING_ERRORS]

    def test_a_warning_is_no_error(self) -> None:
        doubtful = Findings(image_id=2, sku="PHOTO", errors=[], warnings=list(ImageWarning))

        assert find_general_errors(ADDRESS, [doubtful]) == []

    @pytest.mark.parametrize("obstacle", Obstacle)
    def test_what_is_no_longer_sold_cannot_be_ordered(self, obstacle: Obstacle) -> None:
        gone = Findings(image_id=2, sku="PHOTO", errors=[], warnings=[], obstacle=obstacle)

        errors = find_general_errors(ADDRESS, [gone])

        assert errors == [GeneralError.ITEMS_CONTAINING_ERRORS]

    def test_an_account_that_is_overdrawn_comes_first(self) -> None:
        errors = find_general_errors(ADDRESS, [], is_balance_sufficient=False)

        assert errors == [
            GeneralError.ACCOUNT_BALANCE_INSUFFICIENT,
            GeneralError.NO_ITEMS_IN_ORDER,
        ]


class TestAnImage:
    @pytest.mark.parametrize(
        ("status", "errors"),
        [
            (ImageStatus.AWAITING_URL_OR_DATA, [ImageError.NO_IMAGE_FILE]),
            (ImageStatus.NOT_YET_DOWNLOADED, []),
            (ImageStatus.OK, []),
            (ImageStatus.FILE_NOT_FOUND_AT_URL, [ImageError.FILE_COULD_NOT_BE_DOWNLOADED]),
            (ImageStatus.INVALID, [ImageError.INVALID_IMAGE_FILE]),
        ],
    )
    def test_its_status_says_what_is_wrong(
        self, status: ImageStatus, errors: list[ImageError]
    ) -> None:
        assert find_image_errors(status, copies=1) == errors
        assert find_image_errors(status, copies=0) == [*errors, ImageError.ZERO_COPIES]

    def test_every_error_can_occur(self) -> None:
        assert {*ERROR_OF_STATUS.values(), ImageError.ZERO_COPIES} == set(ImageError)

    def test_before_it_is_there_its_size_and_shape_are_unknown(self) -> None:
        warnings = find_size_warnings(ImageStatus.NOT_YET_DOWNLOADED, None, RECOMMENDED)

        assert warnings == [
            ImageWarning.COULD_NOT_VALIDATE_IMAGE_SIZE,
            ImageWarning.COULD_NOT_VALIDATE_ASPECT_RATIO,
        ]

    @pytest.mark.parametrize(
        ("picture", "warnings"),
        [
            (Pixels(600, 900), []),
            (Pixels(900, 600), []),
            (Pixels(599, 899), [ImageWarning.PICTURE_SIZE_TOO_SMALL]),
            (Pixels(2000, 2000), [ImageWarning.CROPPING_WILL_OCCUR]),
            (
                Pixels(500, 500),
                [ImageWarning.CROPPING_WILL_OCCUR, ImageWarning.PICTURE_SIZE_TOO_SMALL],
            ),
        ],
    )
    def test_its_pixels_say_what_is_doubtful(
        self, picture: Pixels, warnings: list[ImageWarning]
    ) -> None:
        placement = place(picture, AREA, Sizing.CROP)

        assert find_size_warnings(ImageStatus.OK, placement, RECOMMENDED) == warnings


class TestAnObstacle:
    def find(self, obstacle: Obstacle, detail: str = "") -> Findings:
        fit = ProductFit(placement=None, recommended=RECOMMENDED, obstacle=obstacle, detail=detail)
        return examine_image(ImageFacts(2, "PHOTO", ImageStatus.NOT_YET_DOWNLOADED, 1, fit))

    @pytest.mark.parametrize(
        ("obstacle", "detail", "sentence"),
        [
            (Obstacle.GONE, "", "PHOTO is no longer sold."),
            (Obstacle.NOT_SOLD_THERE, "JP", "PHOTO is no longer sold to JP."),
            (
                Obstacle.WRONG_ATTRIBUTES,
                "Invalid attribute name {x}.",
                "PHOTO is no longer sold with these attributes. Invalid attribute name {x}.",
            ),
            (
                Obstacle.NO_LAB,
                "JP",
                "PHOTO cannot be made and sent to JP by any lab now; try another shipping method.",
            ),
        ],
    )
    def test_it_is_said_in_a_sentence(self, obstacle: Obstacle, detail: str, sentence: str) -> None:
        found = self.find(obstacle, detail)

        assert found.explain("PHOTO") == sentence
        assert found.is_wrong
        assert found.is_shown

    @pytest.mark.parametrize("obstacle", Obstacle)
    def test_only_an_attribute_is_called_an_attribute(self, obstacle: Obstacle) -> None:
        is_attribute = ImageWarning.ATTRIBUTE_NOT_VALID in self.find(obstacle).warnings

        assert is_attribute is (obstacle is Obstacle.WRONG_ATTRIBUTES)

    def test_nothing_is_said_where_there_is_none(self) -> None:
        assert FINE.explain("PHOTO") is None
        assert not FINE.is_shown


@pytest.mark.parametrize("status", OrderStatus)
def test_only_an_open_order_can_be_submitted(status: OrderStatus) -> None:
    said = explain_state(status)

    if status is OrderStatus.NOT_YET_SUBMITTED:
        assert said is None
    else:
        assert said == f"The order is {status}; only one that is NotYetSubmitted can be submitted."
