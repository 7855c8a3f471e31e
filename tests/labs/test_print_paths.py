"""Print files lie where the template says, and nowhere else, whatever the order contains."""

from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.labs.documents import JobFile
from printworks.labs.print_paths import place_prints, place_slip
from tests.labs.samples import a_file, a_job, an_item

EVERYTHING = "{job}/{size}/{sku}/{attribute:finish}/{image}-{copies}x"
HOSTILE = st.text(max_size=100) | st.sampled_from(
    ["..", "../..", "/etc/passwd", "C:\\", "a/b", ".", "", "~", "NUL", "con.txt", "\0", "a" * 999]
)


def place(template: str, **values: Any) -> str:
    """Return where the one print of a job lies."""
    (found,) = place_prints(a_job(items=[an_item(**values)]), template).values()
    return str(found)


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("prints/{image}-{copies}x", "prints/501-2x.jpg"),
        ("{image}", "501.jpg"),
        (EVERYTHING, "7/102x152mm/PHOTO-4x6/gloss/501-2x.jpg"),
        ("{attribute:FINISH}/{image}", "gloss/501.jpg"),
        ("{attribute:paper}/{image}", "none/501.jpg"),
    ],
)
def test_a_print_lies_where_the_template_says(template: str, expected: str) -> None:
    assert place(template) == expected


@pytest.mark.parametrize(
    ("finish", "folder"),
    [
        ("../../etc", "etc"),
        ("..", "none"),
        ("/", "none"),
        (".ssh", "ssh"),
        ("a\\b:c", "a-b-c"),
        ("Matt, 200 g", "Matt-200-g"),
        ("NUL", "_NUL"),
        ("com1.x", "__com1.x"),
        ("trailing. ", "trailing"),
        ("ü", "none"),
        ("job.json", "_job.json"),
        ("x" * 500, "x" * 60),
    ],
)
def test_an_attribute_cannot_lead_astray(finish: str, folder: str) -> None:
    found = place("{attribute:finish}/{image}", attributes={"finish": finish})

    assert found == f"{folder}/501.jpg"


@given(sku=HOSTILE, finish=HOSTILE, name=HOSTILE)
def test_no_print_leaves_the_folder_of_its_job(sku: str, finish: str, name: str) -> None:
    item = an_item(sku=sku, attributes={"finish": finish}, print=JobFile(name=name, sha256=""))

    (found,) = place_prints(a_job(items=[item]), EVERYTHING).values()

    assert len(found.parts) == 5
    for part in found.parts:
        assert part.isascii()
        assert not set(part) & set('<>:"/\\|?* \0')
        assert part.strip(".") == part
        assert len(part) <= 130


def test_no_two_prints_lie_in_the_same_place() -> None:
    items = [an_item(12, copies=1), an_item(2, copies=11), an_item(112, copies=1, sku="x")]

    places = place_prints(a_job(items=items), "{copies}{image}").values()

    assert sorted(map(str, places)) == ["1112.jpg", "112-2.jpg", "112.jpg"]


def test_a_print_never_takes_the_place_of_the_packing_slip() -> None:
    job = a_job(items=[an_item(print=a_file("501.pdf"))])

    (found,) = place_prints(job, "packing-slip").values()

    assert found != place_slip("slip.pdf") == PurePosixPath("packing-slip.pdf")


def test_a_print_without_an_ending_gets_none() -> None:
    assert place("{image}", print=a_file("501")) == "501"
