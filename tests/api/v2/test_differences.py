"""The documents of 2.3, 2.5 and 2.6 differ in what the contract says, and in nothing else."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

DOCS: Final = Path(__file__).parents[3] / "docs" / "api"
VERSIONS: Final = ("2.3", "2.5", "2.6")

OPERATIONS: Final = """
                                             2.3  2.5  2.6
GET /Orders/{id}                             yes  yes  yes
GET /Orders                                  yes  yes  yes
POST /Orders                                 yes  yes  yes
PUT /Orders/{id}                             yes  yes  yes
GET /Orders/{id}/SubmissionStatus            yes  yes  yes
POST /Orders/{id}/Status                     yes  yes  yes
POST /Orders/{id}/Hold                       -    -    yes
POST /Orders/{id}/Shipping                   -    -    yes
POST /Orders/{id}/Cancel                     -    -    yes
GET /Orders/{orderId}/Photos/{photoId}       yes  yes  yes
GET /Orders/{id}/Photos                      yes  yes  yes
POST /Orders/{orderId}/Photos/               yes  yes  yes
POST /Orders/{orderId}/Photos/Batch          yes  yes  yes
PUT /Orders/{orderId}/Photos/{photoId}       yes  yes  yes
DELETE /Orders/{orderId}/Photos/{photoId}    yes  yes  yes
GET /Catalogue/{countryCode}/{qualityLevel}  yes  yes  yes
GET /Country                                 yes  yes  yes
GET /Orders/{orderId}/Issues/{issueId}       yes  yes  yes
GET /Orders/{orderId}/Issues                 yes  yes  yes
POST /Orders/{orderId}/Issues                yes  yes  yes
PUT /Orders/{orderId}/Issues/{issueId}       yes  yes  yes
GET /Orders/{orderId}/Logs                   yes  yes  yes
"""

# Parameters, statuses, and members of what is taken and shown, where not all versions have them.
DIFFERENCES: Final = """
                                     2.3  2.5  2.6
GET /Orders ?count                   -    yes  yes
GET /Orders ?offset                  -    yes  yes
GET /Orders ?orderStatus             -    yes  yes
GET /Orders ?merchantOrderId         -    yes  yes

CreateOrder.merchantOrderId          -    yes  yes
CreateOrder.preferredShippingMethod  -    yes  yes
CreateOrder.invoiceAmountNet         -    yes  yes
CreateOrder.invoiceTax               -    yes  yes
CreateOrder.invoiceCurrency          -    yes  yes

UpdateOrder.merchantOrderId          -    yes  yes
UpdateOrder.preferredShippingMethod  -    yes  yes
UpdateOrder.invoiceAmountNet         -    yes  yes
UpdateOrder.invoiceTax               -    yes  yes
UpdateOrder.invoiceCurrency          -    yes  yes

OrderOut.preferredShippingMethod     -    yes  yes
OrderOut.merchantOrderId             -    yes  yes
OrderOut.mobileTelephone             -    yes  yes
OrderOut.created                     -    yes  yes
OrderOut.lastUpdated                 -    yes  yes
OrderOut.invoiceAmountNet            -    yes  yes
OrderOut.invoiceTax                  -    yes  yes
OrderOut.invoiceCurrency             -    yes  yes
OrderOut.canCancel                   -    -    yes
OrderOut.canHold                     -    -    yes
OrderOut.canUpdateShipping           -    -    yes
OrderOut.canUpdateImages             -    -    yes

ShippingRateOut.isTracked            yes  -    yes
ShippingRateOut.shippingMethod       -    yes  -
ShippingRateOut.priceGBP             yes  yes  -
ShippingRateOut.priceUSD             yes  yes  -
ShippingRateOut.price                -    -    yes
ShippingRateOut.currency             -    -    yes
"""


def read_table(text: str) -> dict[str, frozenset[str]]:
    """Return which versions have what."""
    _, *lines = (line.rsplit(maxsplit=3) for line in text.splitlines() if line)
    return {
        what: frozenset(v for v, cell in zip(VERSIONS, cells, strict=True) if cell == "yes")
        for what, *cells in lines
    }


@cache
def document(version: str) -> dict[str, Any]:
    """Return a document as it is kept."""
    kept: dict[str, Any] = json.loads((DOCS / f"openapi-v{version}.json").read_text("utf-8"))
    return kept


def operations(version: str) -> dict[str, Any]:
    """Return the operations of a version."""
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document(version)["paths"].items()
        for method, operation in methods.items()
    }


def schemas(version: str) -> dict[str, Any]:
    """Return the shapes of a version that have members, without refusals, which copy others."""
    return {
        name: schema
        for name, schema in document(version)["components"]["schemas"].items()
        if "properties" in schema and not name.endswith("Refusal")
    }


def details(version: str) -> Iterator[tuple[str, Any]]:
    """Give each parameter, answer and member of a version a name, and say what it is."""
    for name, operation in operations(version).items():
        for parameter in operation.get("parameters", ()):
            yield f"{name} ?{parameter['name']}", parameter
        for status, answer in operation["responses"].items():
            yield f"{name} answers {status}", answer
        yield f"{name} takes", operation.get("requestBody")
    for name, schema in schemas(version).items():
        for member, meaning in schema["properties"].items():
            required = member in schema.get("required", ())
            yield f"{name}.{member}", (meaning, required)


@cache
def details_of_all() -> dict[str, dict[str, Any]]:
    """Return what each detail is in each version that has it."""
    found: dict[str, dict[str, Any]] = {}
    for version in VERSIONS:
        for name, meaning in details(version):
            found.setdefault(name, {})[version] = meaning
    return found


def is_of_later_operation(name: str) -> bool:
    """Say whether a detail belongs to an operation that not all versions have, or to its body."""
    table = read_table(OPERATIONS)
    later = [operation for operation, versions in table.items() if len(versions) < len(VERSIONS)]
    return name.startswith((*(f"{operation} " for operation in later), "ChangeShipping."))


def test_each_version_has_the_operations_of_the_contract() -> None:
    found = {
        name: frozenset(version for version in VERSIONS if name in operations(version))
        for version in VERSIONS
        for name in operations(version)
    }

    assert found == read_table(OPERATIONS)


def test_they_differ_in_what_the_table_says() -> None:
    found = {
        name: frozenset(meanings)
        for name, meanings in details_of_all().items()
        if len(meanings) < len(VERSIONS) and not is_of_later_operation(name)
    }

    assert found == read_table(DIFFERENCES)


def test_what_several_have_is_the_same_in_all_of_them() -> None:
    different = [
        name
        for name, (first, *others) in (
            (name, list(meanings.values())) for name, meanings in details_of_all().items()
        )
        if any(other != first for other in others)
    ]

    assert different == []


def test_words_mean_the_same_in_all_of_them() -> None:
    words: dict[str, list[Any]] = {}
    for version in VERSIONS:
        for name, schema in document(version)["components"]["schemas"].items():
            if "enum" in schema:
                words.setdefault(name, []).append(schema["enum"])

    assert words["PreferredMethod"] == [["CHEAPEST", "PRIORITY"]] * 2
    assert words["RateMethod"] == [["cheapest", "priority"]]
    assert words["QualityLevel"] == [["Pro", "Standard"]] * 3
    assert [name for name, kinds in words.items() if any(kind != kinds[0] for kind in kinds)] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_refusal_has_the_members_of_what_was_expected(version: str) -> None:
    shapes = document(version)["components"]["schemas"]
    refusals = {name: shape for name, shape in shapes.items() if name.endswith("Refusal")}

    assert len(refusals) >= 8
    for name, refusal in refusals.items():
        expected = shapes[f"{name.removesuffix('Refusal')}Out"]
        assert set(refusal["properties"]) == set(expected["properties"])
        assert set(refusal["required"]) == set(expected["properties"])
        nothing = {key for key, kind in refusal["properties"].items() if kind == {"type": "null"}}
        assert nothing == set(refusal["properties"]) - {"errorMessage"}
