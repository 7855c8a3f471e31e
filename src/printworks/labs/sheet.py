"""The job sheet: what the people at a lab hold in their hands, one HTML file to print on A4."""

import base64
import unicodedata
from collections.abc import Iterable, Mapping
from html import escape
from typing import Final

import segno

from printworks.labs.documents import Address, Customs, JobDocument, JobItem

_MM_PER_INCH: Final = 25.4
_HASH_SHOWN: Final = 12

# No colour carries a meaning, nothing is loaded, and no script runs.
_STYLE: Final = """
@page { size: A4; margin: 12mm 12mm 15mm;
  @bottom-left { content: "JOBLINE"; font: bold 10pt "Liberation Sans", Arial, sans-serif; }
  @bottom-right { content: "Page " counter(page) " of " counter(pages);
    font: 8pt "Liberation Sans", Arial, sans-serif; } }
* { box-sizing: border-box; }
html { font: 9.5pt/1.35 "Liberation Sans", Arial, Helvetica, sans-serif; color: #000; }
body { margin: 0; }
header { display: flex; align-items: flex-start; gap: 8mm; padding-bottom: 6mm;
  border-bottom: 1.2mm solid #000; }
header svg { width: 30mm; height: 30mm; flex: none; }
h1 { margin: 0; font-size: 44pt; line-height: 1; letter-spacing: -0.5pt;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
h1 small, dt, .label { display: block; font-size: 7.5pt; font-weight: bold; letter-spacing: 0.6pt;
  text-transform: uppercase; line-height: 1.4; color: #444; }
.what { flex: 1; min-width: 0; }
.flag { display: inline-block; margin: 2.5mm 2mm 0 0; padding: 0.6mm 2.4mm; font-weight: bold;
  border: 0.4mm solid #000; border-radius: 1mm; }
.flag.loud { background: #000; color: #fff; -webkit-print-color-adjust: exact;
  print-color-adjust: exact; }
.by { flex: none; text-align: right; }
.by strong { display: block; font-size: 24pt; line-height: 1.05; white-space: nowrap; }
.facts { display: grid; grid-template-columns: 1.15fr 1fr; gap: 8mm; margin: 4.5mm 0 5mm; }
.address { border: 0.5mm solid #000; border-radius: 1.5mm; padding: 3mm 4mm; font-size: 12.5pt;
  line-height: 1.32; overflow-wrap: anywhere; }
.address strong { font-size: 13.5pt; }
.contact { margin-top: 1.5mm; font-size: 9pt; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.9mm 4mm; margin: 0;
  align-content: start; align-items: baseline; }
dd { margin: 0; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
thead { display: table-header-group; }
tfoot { display: table-row-group; }
th { text-align: left; font-size: 7.5pt; letter-spacing: 0.6pt; text-transform: uppercase;
  padding: 1.2mm 2mm; border-bottom: 0.5mm solid #000; vertical-align: bottom; }
td { padding: 2mm; border-bottom: 0.2mm solid #888; vertical-align: top; overflow-wrap: anywhere; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
tr { break-inside: avoid; }
.picture { width: 26mm; }
.picture img { display: block; max-width: 24mm; max-height: 24mm; border: 0.2mm solid #888; }
.picture span { display: block; width: 22mm; height: 15mm; border: 0.2mm dashed #888; }
.sku { font-weight: bold; font-size: 10.5pt; }
.file { font: 8pt "Liberation Mono", "Courier New", monospace; }
.muted { color: #444; font-size: 8.5pt; }
.copies { width: 19mm; text-align: right; font-size: 19pt; font-weight: bold; line-height: 1.1;
  white-space: nowrap; }
th.copies { font-size: 7.5pt; line-height: 1.35; }
.size { width: 33mm; white-space: nowrap; }
.size strong { font-size: 10.5pt; }
.money { width: 23mm; text-align: right; white-space: nowrap; }
.choices { width: 36mm; }
tfoot td { border-bottom: none; border-top: 0.5mm solid #000; font-weight: bold; }
.checks { display: flex; gap: 8mm; margin-top: 7mm; break-inside: avoid; }
.checks div { flex: 1; border-bottom: 0.3mm solid #000; height: 9mm; font-size: 8pt; }
@media screen { body { max-width: 186mm; margin: 12mm auto; } }
"""


def write_sheet(
    document: JobDocument, places: Mapping[str, str], thumbnails: Mapping[str, bytes]
) -> str:
    """Return the sheet of a job as HTML that needs nothing else.

    `places` says where each print file lies, and `thumbnails` has the pictures, by their names.
    """
    rows = "".join(
        _write_item(item, document.customs.currency, places, thumbnails.get(item.thumbnail))
        for item in document.items
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\">\n"
        f"<title>Job {document.job}</title>\n"
        f"<style>{_STYLE.replace('JOBLINE', _footer(document))}</style>\n</head>\n<body>\n"
        f"{_write_head(document)}\n{_write_facts(document)}\n"
        "<table>\n<thead><tr>"
        f'<th class="picture">Job {document.job}</th>'
        "<th>Product and file</th>"
        '<th class="choices">Choices</th><th class="size">Size</th>'
        '<th class="money">Value each</th><th class="copies">Copies</th></tr></thead>\n'
        f"<tbody>\n{rows}</tbody>\n<tfoot>{_write_total(document)}</tfoot>\n</table>\n"
        '<div class="checks"><div>Printed by</div><div>Checked by</div><div>Packed by</div></div>\n'
        "</body>\n</html>\n"
    )


def _footer(document: JobDocument) -> str:
    # Numbers alone: nothing that others wrote goes into the style.
    return f"Job {document.job:d}, order {document.order:d}"


def _write_head(document: JobDocument) -> str:
    slip = document.packing_slip is not None
    flags = [
        '<span class="flag loud">Packing slip: put it in</span>'
        if slip
        else '<span class="flag">No packing slip</span>'
    ]
    if document.environment != "live":
        flags.append('<span class="flag loud">Sandbox: do not print</span>')
    return (
        f"<header>{_draw_code(document.job)}"
        f'<div class="what"><h1><small>Job</small>{document.job}</h1>{"".join(flags)}</div>'
        '<div class="by"><span class="label">Dispatch by</span>'
        f"<strong>{document.dispatch_by:%a} {document.dispatch_by.day} "
        f"{document.dispatch_by:%b}</strong>{document.dispatch_by:%Y}</div></header>"
    )


def _write_facts(document: JobDocument) -> str:
    service = document.service
    tracked = "tracked" if service.is_tracked else "not tracked"
    facts = {
        "Service": f"{service.name} ({service.method})",
        "Carrier": f"{service.carrier}, {tracked}",
        "Order": str(document.order),
        "Reference": document.merchant_order_id,
        "Merchant": document.merchant,
        "Lab": document.lab,
        "Ordered": f"{document.ordered_at:%Y-%m-%d %H:%M} UTC",
        "Contents": f"{_count(document.copies, 'print')} of {_count(len(document.items), 'image')}",
        "Customs value": _money(document.customs.value, document.customs.currency),
        "Invoice": _describe_invoice(document.customs),
    }
    lines = "".join(
        f"<dt>{_safe(name)}</dt><dd>{_safe(value)}</dd>" for name, value in facts.items() if value
    )
    return f'<div class="facts">{_write_address(document.address)}<dl>{lines}</dl></div>'


def _write_address(address: Address) -> str:
    lines = [address.address1, address.address2, address.town_or_city, address.state_or_county]
    lines += [address.postal_code, address.country]
    contact = _join(", ", [address.telephone, address.email])
    return (
        '<div class="address"><span class="label">Send to</span>'
        f"<strong>{_safe(address.name)}</strong><br>{_join('<br>', lines)}"
        f'<div class="contact">{contact}</div></div>'
    )


def _write_item(
    item: JobItem, currency: str, places: Mapping[str, str], thumbnail: bytes | None
) -> str:
    choices = _join("<br>", [f"{name}: {value}" for name, value in item.attributes.items()])
    return (
        f'<tr><td class="picture">{_draw_thumbnail(thumbnail)}</td>'
        f'<td><span class="sku">{_safe(item.sku)}</span><br>{_safe(item.description)}'
        f'<br><span class="file">{_safe(places.get(item.print.name, item.print.name))}</span>'
        f'<br><span class="muted">SHA-256 '
        f'<span class="file">{_safe(item.print.sha256[:_HASH_SHOWN])}…</span></span></td>'
        f'<td class="choices">{choices}</td>'
        f'<td class="size">{_describe_size(item)}</td>'
        f'<td class="money">{_safe(_money(item.value, currency))}</td>'
        f'<td class="copies">{item.copies} &times;</td></tr>\n'
    )


def _write_total(document: JobDocument) -> str:
    total = _safe(_money(document.customs.value, document.customs.currency))
    return (
        f'<tr><td colspan="4">{_count(len(document.items), "image")} in all</td>'
        f'<td class="money">{total}</td><td class="copies">{document.copies} &times;</td></tr>'
    )


def _draw_code(job: int) -> str:
    # Nothing but the number: a hand scanner types it wherever a job is asked for.
    code = segno.make(str(job), error="m", micro=False)
    return code.svg_inline(border=0, omitsize=True, svgclass=None, lineclass=None)


def _draw_thumbnail(content: bytes | None) -> str:
    if content is None:
        return "<span></span>"
    kind = "image/png" if content.startswith(b"\x89PNG") else "image/jpeg"
    return f'<img alt="" src="data:{kind};base64,{base64.b64encode(content).decode()}">'


def _describe_size(item: JobItem) -> str:
    width, height = (side / item.dpi for side in (item.width, item.height))
    return (
        f"<strong>{width * _MM_PER_INCH:.0f} &times; {height * _MM_PER_INCH:.0f} mm</strong><br>"
        f"{width:.4g} &times; {height:.4g} inch<br>"
        f'<span class="muted">{item.width} &times; {item.height} at {item.dpi} dpi</span>'
    )


def _describe_invoice(customs: Customs) -> str:
    if not customs.invoice_currency:
        return ""
    net = _money(customs.invoice_amount_net, customs.invoice_currency)
    return f"{net} net, {_money(customs.invoice_tax, customs.invoice_currency)} tax"


def _money(amount: int, currency: str) -> str:
    return f"{amount // 100}.{amount % 100:02} {currency}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _join(between: str, lines: Iterable[str | None]) -> str:
    return between.join(_safe(line) for line in lines if line)


def _safe(text: str | None) -> str:
    """Return text as HTML shows it, without what could turn or hide the words around it."""
    shown = (" " if unicodedata.category(char)[0] == "C" else char for char in text or "")
    return escape("".join(shown))
