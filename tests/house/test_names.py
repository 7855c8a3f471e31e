"""One name means one thing: whoever searches for a class finds one."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import printworks

SOURCE: Final = Path(printworks.__file__).parent
# Versions of the API say the same of themselves, each in its own folder.
OF_A_VERSION: Final = SOURCE / "wire"
# To read every file as a tree would take three seconds.
CLASS: Final = re.compile(r"^ *class (\w+)[(:\[]", re.MULTILINE)


def find_class_names() -> dict[str, set[Path]]:
    found = defaultdict[str, set[Path]](set)
    for file in SOURCE.rglob("*.py"):
        for name in CLASS.findall(file.read_text()):
            found[name].add(file)
    return found


def test_classes_are_found() -> None:
    found = CLASS.findall("class A:\n    class B(A):\nclass C[T]:\nsubclass D:\n# class E:\n")

    assert found == ["A", "B", "C"]
    assert len(find_class_names()) > 1000


def test_no_two_classes_have_the_same_name() -> None:
    twice = {
        name: files
        for name, files in find_class_names().items()
        if len(files) > 1 and not all(file.is_relative_to(OF_A_VERSION) for file in files)
    }

    assert twice == {}
