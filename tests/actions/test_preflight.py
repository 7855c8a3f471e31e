"""A picture is checked before anything is ordered, and a failure of ours is not the picture's."""

from pathlib import Path

import pytest

from printworks.actions.images.preflight import PreflightRefused, check_picture
from printworks.errors import ServiceUnavailable
from printworks.imaging.processor import CannotBeProcessed
from printworks.rules.sizing import Sizing
from tests.actions.processors import one_that_answers
from tests.actions.test_ledger import CATALOGUE

STICKER = CATALOGUE.get_product("M-STI-4X6")


def test_a_file_that_breaks_its_decoder_is_refused_with_the_reason(tmp_path: Path) -> None:
    processor = one_that_answers(CannotBeProcessed("The child took too long."))

    result = check_picture(processor, tmp_path / "a.jpg", STICKER, Sizing.CROP)

    assert result == PreflightRefused("The file cannot be processed. The child took too long.")


def test_no_file_is_blamed_while_nothing_can_be_checked(tmp_path: Path) -> None:
    broken = CannotBeProcessed("No zygote starts.", is_infrastructure_error=True)

    with pytest.raises(ServiceUnavailable, match="temporarily unavailable"):
        check_picture(one_that_answers(broken), tmp_path / "a.jpg", STICKER, Sizing.CROP)
