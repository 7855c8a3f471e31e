"""Gives pictures other names in the files of a catalogue."""

from collections.abc import Mapping
from typing import Any

from printworks.catalogue.drafts.draft import Draft

_KEY = "picture"


def rename_pictures(texts: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """Return the files with other names of pictures; every other character stays."""
    draft = Draft(texts)
    for position, block in enumerate(draft.list_blocks("products")):
        renamed = _rename(block, names)
        if renamed != block:
            draft.change_block("products", position, renamed)
    return draft.texts


def _rename(block: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    renamed = dict(block)
    if _KEY in block:
        renamed[_KEY] = names.get(block[_KEY], block[_KEY])
    columns = block.get("columns", [])
    if _KEY in columns:
        at = columns.index(_KEY)
        renamed["rows"] = [
            [names.get(cell, cell) if place == at else cell for place, cell in enumerate(row)]
            for row in block["rows"]
        ]
    return renamed
