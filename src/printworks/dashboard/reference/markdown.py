"""The part of Markdown in which our guides are written, as HTML.

Everything is escaped first: what a guide says cannot become anything but text, tables and links.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Final, NamedTuple

_CODE: Final = re.compile(r"`([^`]+)`")
_BOLD: Final = re.compile(r"\*\*([^*]+)\*\*")
_ITALIC: Final = re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*")
_LINK: Final = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
_HEADING: Final = re.compile(r"(#{1,4}) (.+)")
_ITEM: Final = re.compile(r"(?:[-*]|(\d+)\.) (.*)")
_RULE: Final = re.compile(r"\|[\s|:-]+\|?")
# Turns the address in a guide into one of the page; None leaves only its text.
FindAddress = Callable[[str], str | None]


class GuideHeading(NamedTuple):
    """A heading of a guide, for its menu."""

    level: int
    text: str
    anchor: str


class RenderedGuide(NamedTuple):
    """A guide as HTML, and its headings."""

    title: str
    html: str
    headings: tuple[GuideHeading, ...]


def render_guide(text: str, find_address: FindAddress) -> RenderedGuide:
    """Return a guide as HTML, without its title."""
    writer = _MarkdownWriter(find_address)
    writer.write(iter(text.splitlines()))
    return RenderedGuide(writer.title, "\n".join(writer.pieces), tuple(writer.headings))


def anchor_of(text: str) -> str:
    """Return the anchor of a heading, as those who link to it spell it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


class _MarkdownWriter:
    def __init__(self, find_address: FindAddress) -> None:
        self._find_address = find_address
        self.title = ""
        self.pieces: list[str] = []
        self.headings: list[GuideHeading] = []
        self._paragraph: list[str] = []

    def write(self, lines: Iterator[str]) -> None:
        """Write all lines."""
        block: list[str] = []
        kind = ""
        for line in lines:
            if line.startswith("```"):
                self._end(kind, block)
                kind, block = "", []
                self._write_code(lines)
                continue
            found = _find_kind(line, kind)
            if found != kind or found == "heading":
                self._end(kind, block)
                kind, block = found, []
            if found:
                block.append(line)
        self._end(kind, block)

    def _write_code(self, lines: Iterator[str]) -> None:
        code = []
        for line in lines:
            if line.startswith("```"):
                break
            code.append(line)
        self.pieces.append(
            f'<pre class="block block--code" tabindex="0">{escape(chr(10).join(code))}</pre>'
        )

    def _end(self, kind: str, block: list[str]) -> None:
        if kind and block:
            _WRITERS[kind](self, block)

    def write_heading(self, block: list[str]) -> None:
        found = _HEADING.fullmatch(block[0])
        if found is None:
            return
        level, text = len(found[1]), found[2]
        if level == 1 and not self.title:
            self.title = text
            return
        plain = re.sub(r"[`*]", "", text)
        self.headings.append(GuideHeading(level, plain, anchor_of(plain)))
        self.pieces.append(
            f'<h{level} id="{escape(anchor_of(plain))}">{self._inline(text)}</h{level}>'
        )

    def write_paragraph(self, block: list[str]) -> None:
        self.pieces.append(f"<p>{self._inline(' '.join(line.strip() for line in block))}</p>")

    def write_list(self, block: list[str]) -> None:
        items: list[str] = []
        for line in block:
            found = _ITEM.fullmatch(line.strip()) if not line.startswith("  ") else None
            if found:
                items.append(found[2])
            else:
                items[-1] += f" {line.strip()}"
        tag = "ol" if re.match(r"\d", block[0]) else "ul"
        lines = "".join(f"<li>{self._inline(item)}</li>" for item in items)
        self.pieces.append(f"<{tag}>{lines}</{tag}>")

    def write_table(self, block: list[str]) -> None:
        rows = [_split(line) for line in block if not _RULE.fullmatch(line.strip())]
        head = "".join(f'<th scope="col">{self._inline(cell)}</th>' for cell in rows[0])
        body = "".join(
            f"<tr>{''.join(f'<td>{self._inline(cell)}</td>' for cell in row)}</tr>"
            for row in rows[1:]
        )
        self.pieces.append(
            f'<div class="table-frame" tabindex="0" role="region" aria-label="Table">'
            f'<table class="table"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
        )

    def _inline(self, text: str) -> str:
        kept: list[str] = []

        def keep(found: re.Match[str]) -> str:
            kept.append(f"<code>{found[1]}</code>")
            return f"\0{len(kept) - 1}\0"

        written = _CODE.sub(keep, escape(text, quote=False))
        written = _LINK.sub(self._link, written)
        written = _ITALIC.sub(r"<em>\1</em>", _BOLD.sub(r"<strong>\1</strong>", written))
        return re.sub("\0(\\d+)\0", lambda found: kept[int(found[1])], written)

    def _link(self, found: re.Match[str]) -> str:
        address = self._find_address(found[2])
        return found[1] if address is None else f'<a href="{escape(address)}">{found[1]}</a>'


def _find_kind(line: str, before: str) -> str:
    stripped = line.strip()
    if not stripped or stripped.startswith("<!--"):
        return ""
    if _HEADING.fullmatch(line):
        return "heading"
    if stripped.startswith("|"):
        return "table"
    if _ITEM.fullmatch(line) or (before == "list" and line.startswith("  ")):
        return "list"
    return "paragraph"


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


_WRITERS: Final[Mapping[str, Callable[[_MarkdownWriter, list[str]], None]]] = {
    "heading": _MarkdownWriter.write_heading,
    "paragraph": _MarkdownWriter.write_paragraph,
    "list": _MarkdownWriter.write_list,
    "table": _MarkdownWriter.write_table,
}
