"""The catalogue that is built in, with labs that are a little different."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from printworks.catalogue.snapshot import DEFAULT_FOLDER

# What was changed before in this process.
_MADE: Final[dict[Any, Path]] = {}


def change_labs(
    where: Path, changed: Mapping[str, str] | None = None, *, every: str = "", without: str = ""
) -> Path:
    """Copy the catalogue, and give labs other lines such as `connector = "folder"`.

    `changed` has lines by the code of a lab, and `every` is for all of them. The lab `without`
    is made to have another code, as if it had left and somebody else had come.

    Who asks for the same change again gets the same folder, which must stay as it is: reading a
    catalogue takes longer than most tests.
    """
    asked = (tuple(sorted((changed or {}).items())), every, without)
    if asked not in _MADE:
        _MADE[asked] = _copy(where, changed or {}, every, without)
    return _MADE[asked]


def _copy(where: Path, changed: Mapping[str, str], every: str, without: str) -> Path:
    folder = where / "catalogue"
    shutil.copytree(DEFAULT_FOLDER, folder, dirs_exist_ok=True)
    labs = folder / "labs.toml"
    head, *written = labs.read_text().split("[[labs]]\n")
    labs.write_text("[[labs]]\n".join([head, *(_change(lab, changed, every) for lab in written)]))
    if without:
        for file in (labs, folder / "shipping.toml"):
            file.write_text(file.read_text().replace(f'"{without}"', f'"{without}-again"'))
    return folder


def _change(lab: str, changed: Mapping[str, str], every: str) -> str:
    code = lab.split('code = "', 1)[1].split('"', 1)[0]
    lines = "\n".join(line for line in (every, changed.get(code, "")) if line)
    names = {line.split(" = ")[0] for line in lines.splitlines()}
    kept = [line for line in lab.splitlines(keepends=True) if line.split(" = ")[0] not in names]
    return f"{lines}\n{''.join(kept)}" if lines else lab
