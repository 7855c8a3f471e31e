"""Photographs of products: named in the files, beside which they lie."""

from pathlib import Path

import pytest

from printworks.catalogue.changes import list_changes
from printworks.catalogue.drafts.draft import Draft
from printworks.catalogue.drafts.pictures import rename_pictures
from printworks.catalogue.drafts.products import change_product, find_product
from printworks.catalogue.pictures import PICTURES, list_pictures
from printworks.catalogue.snapshot import Catalogue
from tests.catalogue.folders import a_family, a_folder, a_product, problems_of

COLUMNS = '"image", "GBP", "EUR"'
ROWS = ('"4x6", 20, 25', '"5x7", 30, 35')


def a_folder_with(where: Path, *products: str, pictures: tuple[str, ...] = ()) -> Path:
    """Write a catalogue, and files that are called as its pictures."""
    folder = a_folder(where, *products)
    (folder / PICTURES).mkdir()
    for name in pictures:
        (folder / PICTURES / name).write_bytes(b"")
    return folder


def test_a_product_has_the_picture_that_it_names(tmp_path: Path) -> None:
    folder = a_folder_with(tmp_path, a_product(picture='"cat.jpg"'), pictures=("cat.jpg",))

    catalogue = Catalogue.load(folder)

    assert catalogue.get_product("PHOTO-4X6").picture == "cat.jpg"
    assert list_pictures(catalogue.products) == ["cat.jpg"]


def test_a_picture_that_is_missing_is_told_with_its_line(tmp_path: Path) -> None:
    folder = a_folder_with(tmp_path, a_product(picture='"cat.jpg"'))

    [problem] = problems_of(folder)

    assert "The picture `pictures/cat.jpg` does not exist." in problem
    assert problem.startswith("products.toml:")


@pytest.mark.parametrize("name", ["../cat.jpg", "a/b.jpg", "", ".hidden", "a cat.jpg", "c" * 121])
def test_a_picture_is_a_plain_file_name(tmp_path: Path, name: str) -> None:
    folder = a_folder_with(tmp_path, a_product(picture=f'"{name}"'))

    assert "`picture` must be the name of a file in the folder" in problems_of(folder)[0]


@pytest.mark.parametrize(
    ("before", "after", "said", "values"),
    [
        (None, '"a.jpg"', "added", ("", "a picture")),
        ('"a.jpg"', '"b.jpg"', "changed", ("a picture", "another picture")),
        ('"a.jpg"', None, "removed", ("a picture", "")),
    ],
)
def test_what_differs_is_said_without_names_of_files(
    tmp_path: Path, before: str | None, after: str | None, said: str, values: tuple[str, str]
) -> None:
    loaded = []
    for name, picture in (("before", before), ("after", after)):
        (tmp_path / name).mkdir()
        pictures = ("a.jpg", "b.jpg")
        folder = a_folder_with(tmp_path / name, a_product(picture=picture), pictures=pictures)
        loaded.append(Catalogue.load(folder))

    [change] = list_changes(*loaded)

    assert str(change) == f"product PHOTO-4X6: picture {said}"
    assert (change.before, change.after) == values


class TestFamilies:
    def test_one_product_gets_a_picture_in_a_column(self) -> None:
        draft = Draft({"products.toml": a_family(COLUMNS, *ROWS)})
        product = find_product(draft, "PHOTO-5X7")
        assert product is not None

        change_product(draft, product, {**product.values, "picture": "cat.jpg"})

        [block] = draft.list_blocks("products")
        assert block["columns"] == ["image", "GBP", "EUR", "picture"]
        assert block["rows"] == [["4x6", 20, 25, ""], ["5x7", 30, 35, "cat.jpg"]]

    def test_it_loses_it_in_its_cell(self) -> None:
        draft = Draft({"products.toml": a_family(COLUMNS, *ROWS)})
        for picture in ({"picture": "cat.jpg"}, {}):
            product = find_product(draft, "PHOTO-5X7")
            assert product is not None
            kept = {key: value for key, value in product.values.items() if key != "picture"}
            change_product(draft, product, {**kept, **picture})

        [block] = draft.list_blocks("products")
        assert block["rows"] == [["4x6", 20, 25, ""], ["5x7", 30, 35, ""]]

    def test_without_the_picture_of_its_family_it_leaves_it(self) -> None:
        draft = Draft({"products.toml": a_family(COLUMNS, *ROWS, picture='"cat.jpg"')})
        product = find_product(draft, "PHOTO-5X7")
        assert product is not None

        kept = {key: value for key, value in product.values.items() if key != "picture"}
        change_product(draft, product, kept)

        assert len(draft.list_blocks("products")) == 2


def test_pictures_get_other_names_and_every_other_character_stays() -> None:
    text = (
        "# Ours\n"
        + a_product(picture='"cat.jpg" # the cat')
        + a_family(
            f'{COLUMNS}, "picture"',
            *(f'{row}, "{name}"' for row, name in zip(ROWS, ("dog.jpg", ""), strict=True)),
            picture='"fox.jpg"',
        )
    )
    names = {"cat.jpg": "cat-1.jpg", "dog.jpg": "dog-1.jpg"}

    renamed = rename_pictures({"products.toml": text}, names)

    expected = text.replace('"cat.jpg"', '"cat-1.jpg"').replace('"dog.jpg"', '"dog-1.jpg"')
    assert renamed == {"products.toml": expected}
