"""How VAT IDs are written, and which cannot be any."""

import pytest

from printworks.errors import BadInput
from printworks.rules.vat_ids import find_vat_country, tidy_vat_id


@pytest.mark.parametrize(
    ("country", "typed", "kept"),
    [
        ("DE", "de 136,695 976", "DE136695976"),
        ("DE", "136695976", "DE136695976"),
        ("GR", "EL 094259216", "EL094259216"),
        ("GB", "GB 980 7806 84", "GB980780684"),
        ("FR", "FR 40 303 265 045", "FR40303265045"),
        ("CH", "CHE-107.787.577 MWST", "CHE107787577MWST"),
        ("NO", "995 525 828 MVA", "995525828MVA"),
        # Not known: kept as it was typed.
        ("US", "12-3456789", "12-3456789"),
        ("DE", "  ", ""),
    ],
)
def test_ids_are_kept_as_invoices_write_them(country: str, typed: str, kept: str) -> None:
    assert tidy_vat_id(typed, country) == kept


@pytest.mark.parametrize(
    ("country", "typed"),
    [("DE", "DE136695977"), ("FR", "DE136695976"), ("US", "1" * 41), ("US", "1\t2"), ("DE", "é")],
)
def test_others_are_refused_at_their_field(country: str, typed: str) -> None:
    with pytest.raises(BadInput, match=f"is not a VAT ID of {country}") as refused:
        tidy_vat_id(typed, country)
    assert list(refused.value.fields) == ["vat_id"]


def test_the_prefix_names_the_member_state() -> None:
    ids = ["DE136695976", "EL094259216", "GB980780684", ""]
    assert [find_vat_country(one) for one in ids] == ["DE", "GR", "", ""]
