"""The files of a draft: what they say, and how one block, line or value of them is changed."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from printworks.catalogue.drafts.segments import Segment, join, split
from printworks.catalogue.drafts.writing import (
    rewrite_block,
    rewrite_head,
    rewrite_table,
    write_block,
    write_head,
    write_table,
)

# Where blocks of a table are added if there are none yet.
_USUAL_FILES: Final[Mapping[str, str]] = {
    "products": "products.toml",
    "labs": "labs.toml",
    "services": "shipping.toml",
    "promises": "shipping.toml",
    "tariff": "tariff.toml",
    "holidays": "holidays.toml",
    "rates": "shipping.toml",
    "taxes": "taxes.toml",
}
_MAIN_FILE: Final = "catalogue.toml"


class _Spot(NamedTuple):
    """Where a segment is."""

    file: str
    at: int


class Draft:
    """The files of a catalogue, changed in memory."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        # As the reader merges them.
        self._files = {name: split(text) for name, text in sorted(texts.items())}

    @property
    def texts(self) -> dict[str, str]:
        """The files as they are now, by their names; empty ones are gone."""
        joined = {name: join(segments) for name, segments in self._files.items()}
        return {name: text for name, text in joined.items() if text.strip()}

    def list_blocks(self, table: str) -> list[dict[str, Any]]:
        """Return the blocks of a table, in the order in which they are read."""
        return [self._get(spot).content[table][0] for spot in self._find_blocks(table)]

    def read_table(self, table: str) -> dict[str, Any]:
        """Return the lines of a table in all files."""
        lines: dict[str, Any] = {}
        for spot in self._find_tables(table):
            lines |= self._get(spot).content[table]
        return lines

    def read_value(self, key: str) -> Any:
        """Return a value that belongs to no table; None if it is absent."""
        for segments in self._files.values():
            if key in segments[0].content:
                return segments[0].content[key]
        return None

    def change_block(self, table: str, position: int, values: Mapping[str, Any]) -> None:
        """Give a block other values."""
        spot = self._find_blocks(table)[position]
        segment = self._get(spot)
        self._put(spot, segment._replace(body=rewrite_block(table, segment.body, values)))

    def add_block(self, table: str, values: Mapping[str, Any], *, after: int | None = None) -> int:
        """Add a block after another one, or after all of its table; return its position."""
        found = self._find_blocks(table)
        body = write_block(table, values)
        if not found:
            segments = self._files.setdefault(_USUAL_FILES[table], [Segment("", "", "")])
            segments.append(Segment(table, "\n" if join(segments).strip() else "", body))
            return 0
        position = len(found) - 1 if after is None else after
        file, at = found[position]
        segments = self._files[file]
        if not segments[at].body.endswith("\n"):
            segments[at] = segments[at]._replace(body=segments[at].body + "\n")
        segments.insert(at + 1, Segment(table, "\n", body))
        return position + 1

    def remove_block(self, table: str, position: int) -> None:
        """Remove a block and the comment that stands directly above it."""
        file, at = self._find_blocks(table)[position]
        segments = self._files[file]
        kept = _drop_own_remark(segments.pop(at).lead)
        if at < len(segments):
            following = segments[at]
            lead = kept.rstrip("\n") + "\n" * bool(kept.strip()) + following.lead
            segments[at] = following._replace(lead=lead)

    def set_line(self, table: str, name: str, value: Any) -> None:
        """Give a line of a table another value; None removes it."""
        spots = list(self._find_tables(table))
        if not spots:
            file = _USUAL_FILES.get(table, _MAIN_FILE)
            segments = self._files.setdefault(file, [Segment("", "", "")])
            lead = "\n" if join(segments).strip() else ""
            # Tables come before blocks: what follows a block would be read as part of it.
            segments.insert(1, Segment(table, lead, write_table(table, {name: value})))
            return
        having = [spot for spot in spots if name in self._get(spot).content[table]]
        spot = having[0] if having else spots[0]
        segment = self._get(spot)
        lines = {**segment.content[table], name: value}
        if value is None:
            del lines[name]
        self._put(spot, segment._replace(body=rewrite_table(table, segment.body, lines)))

    def set_value(self, key: str, value: Any) -> None:
        """Give a value that belongs to no table; None removes it."""
        having = [name for name, parts in self._files.items() if key in parts[0].content]
        file = having[0] if having else _MAIN_FILE
        segments = self._files.setdefault(file, [Segment("", "", "")])
        head = segments[0]
        values = {**head.content, key: value}
        if value is None:
            del values[key]
        body = rewrite_head(head.body, values) if head.body.strip() else write_head(values)
        if not head.body.strip() and len(segments) > 1:
            body += "\n"
        segments[0] = head._replace(body=body)

    def _get(self, spot: _Spot) -> Segment:
        return self._files[spot.file][spot.at]

    def _put(self, spot: _Spot, segment: Segment) -> None:
        self._files[spot.file][spot.at] = segment

    def _find_blocks(self, table: str) -> list[_Spot]:
        return [spot for spot in self._find(table) if self._get(spot).is_block]

    def _find_tables(self, table: str) -> Iterator[_Spot]:
        return (spot for spot in self._find(table) if not self._get(spot).is_block)

    def _find(self, table: str) -> Iterator[_Spot]:
        for name, segments in self._files.items():
            for at, segment in enumerate(segments):
                if segment.root == table:
                    yield _Spot(name, at)


def fingerprint_values(values: object) -> str:
    """Return what changes whenever a block does: a form that was shown with it is out of date then."""
    written = msgspec.json.encode(values, order="deterministic", enc_hook=str)
    return hashlib.blake2s(written, digest_size=12).hexdigest()


def _drop_own_remark(lead: str) -> str:
    """Return what stands above a block without the comment that belongs to it alone."""
    lines = lead.splitlines(keepends=True)
    while lines and lines[-1].strip():
        lines.pop()
    return "".join(lines)
