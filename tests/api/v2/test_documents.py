"""What the documents of the older versions say is what the service does."""

import re
from pathlib import Path

import pytest

from printworks.api.endpoints import ApiFamily
from printworks.api.openapi import describe, encode, statuses_of
from printworks.api.v2.endpoints import FAMILIES
from tests.api.client import Client

DOCS = Path(__file__).parents[3] / "docs" / "api"
LINE = re.compile(r"^\| `(?P<operation>[A-Z]+ /\S*)` \|(?P<cells>.*)\|$", re.MULTILINE)
LINK = re.compile(r"\[\w+\]\((?P<path>[^)]+)\)")


def read_table() -> dict[str, list[str]]:
    """Return the cells of each line of the guide, by operation."""
    guide = (DOCS / "versions.md").read_text(encoding="utf-8")
    return {
        line["operation"]: [cell.strip() for cell in line["cells"].split("|")]
        for line in LINE.finditer(guide)
    }


def operations_of(family: ApiFamily) -> dict[str, set[int]]:
    """Return what a version answers, by operation."""
    return {
        f"{endpoint.method} {endpoint.path}": set(statuses_of(endpoint))
        for endpoint in family.endpoints
    }


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.version)
class TestOfEachVersion:
    def test_the_committed_openapi_document_is_the_generated_one(self, family: ApiFamily) -> None:
        committed = (DOCS / f"openapi-{family.prefix}.json").read_bytes()

        generated = encode(describe(family, header_prefix="X-Service-"))
        assert committed == generated, "Run `make openapi`."

    def test_the_guide_lists_every_operation_of_a_version_and_no_other(
        self, family: ApiFamily
    ) -> None:
        column = [each.version for each in FAMILIES].index(family.version)

        listed = {operation for operation, cells in read_table().items() if cells[column] != "no"}

        assert listed == set(operations_of(family))

    def test_every_status_of_the_contract_is_documented(self, family: ApiFamily) -> None:
        for operation, statuses in operations_of(family).items():
            refusals = read_table()[operation][len(FAMILIES)]
            contract = {int(status) for status in re.findall(r"\d+", refusals)}

            assert {200, 410} | contract <= statuses

    def test_every_operation_has_a_name_of_its_own(self, family: ApiFamily) -> None:
        names = [endpoint.handler.__name__ for endpoint in family.endpoints]

        assert len(names) == len(set(names))


def test_every_line_of_the_guide_names_a_test_that_is_there() -> None:
    for operation, cells in read_table().items():
        link = LINK.fullmatch(cells[-1])

        assert link is not None, operation
        assert (DOCS / link["path"]).is_file(), operation


def test_the_documents_are_served(stranger: Client, version: str) -> None:
    served = stranger.get("/openapi.json")

    assert served.body == (DOCS / f"openapi-v{version}.json").read_bytes()
    assert stranger.get("/docs").status == 200
