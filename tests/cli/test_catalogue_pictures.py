"""Pictures of products are imported and exported with the files of a catalogue."""

import shutil
from pathlib import Path

import pytest

from tests.api.pngs import a_png
from tests.cli.operators import Operator


def a_folder_with_a_picture(keeper: Operator, where: Path, picture: bytes) -> Path:
    """Write the catalogue of the installation, with a picture of its first product."""
    folder = where / "with-pictures"
    shutil.copytree(keeper.catalogue, folder)
    products = folder / "products.toml"
    products.write_text(
        products.read_text().replace("[[products]]", '[[products]]\npicture = "cat.png"', 1)
    )
    (folder / "pictures").mkdir()
    (folder / "pictures" / "cat.png").write_bytes(picture)
    return folder


def read_all(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder, by their paths in it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.both_databases
def test_what_was_exported_with_pictures_is_the_same_when_it_is_imported(
    keeper: Operator, tmp_path: Path
) -> None:
    folder = a_folder_with_a_picture(keeper, tmp_path, a_png(1600, 1200))
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))

    added = str(keeper.reads("catalogue", "import", str(folder))["version"])
    changes = keeper.asks("catalogue", "diff", added).said
    keeper.reads("catalogue", "export", str(first), "--version", added)
    same = keeper.asks("catalogue", "import", str(first))
    # A remark makes it another version, with the same picture.
    shutil.copytree(first, second)
    (second / "words.toml").write_text("# Ours\n" + (second / "words.toml").read_text())
    other = str(keeper.reads("catalogue", "import", str(second))["version"])
    said = keeper.reads("catalogue", "export", str(third), "--version", other)

    assert "picture added" in changes
    assert f"the same as version {added}" in same.complained
    assert read_all(third) == read_all(second)
    [name] = said["pictures"]
    assert name.startswith("cat-")


def test_a_picture_that_is_missing_or_none_is_named(keeper: Operator, tmp_path: Path) -> None:
    folder = a_folder_with_a_picture(keeper, tmp_path, b"<svg/>")

    bad = keeper.asks("catalogue", "import", str(folder))
    (folder / "pictures" / "cat.png").unlink()
    missing = keeper.asks("catalogue", "import", str(folder))

    assert (bad.code, missing.code) == (1, 1)
    assert "cat.png: This file cannot be used as a picture." in bad.complained
    assert "The picture `pictures/cat.png` does not exist." in missing.complained
    assert keeper.asks("catalogue", "versions").said.startswith("There is no version yet")
