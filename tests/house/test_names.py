"""One name means one thing: whoever searches for a class finds one."""

import ast
from collections import defaultdict
from pathlib import Path
from typing import Final

import printworks

SOURCE: Final = Path(printworks.__file__).parent
# Versions of the API say the same of themselves, each in its own folder.
OF_A_VERSION: Final = SOURCE / "wire"


def find_class_names() -> dict[str, set[Path]]:
    found = defaultdict[str, set[Path]](set)
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(file)
    return found


def test_no_two_classes_have_the_same_name() -> None:
    twice = {
        name: files
        for name, files in find_class_names().items()
        if len(files) > 1 and not all(file.is_relative_to(OF_A_VERSION) for file in files)
    }

    assert twice == {}
