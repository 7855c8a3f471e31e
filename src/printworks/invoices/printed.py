"""Documents on paper: A4, as PDF/A-3 with the structured invoice attached."""

from datetime import UTC, date, datetime, time
from importlib import resources
from typing import Any, Final, NamedTuple

from babel.numbers import format_decimal
from fpdf import FPDF
from fpdf.enums import Align, MethodReturnValue, XPos, YPos
from fpdf.image_parsing import get_img_info

from printworks.invoices.metadata import write_metadata
from printworks.invoices.phrases import explain, say
from printworks.invoices.structured import FILE_NAME, write_structured
from printworks.invoices.texts import clean
from printworks.language.words import Words
from printworks.rules.brand import PLAIN_PAPER, PaperBrand
from printworks.rules.invoices import Invoice, InvoiceKind, InvoiceLine, InvoiceParty
from printworks.rules.taxes import TaxRate

_FONTS: Final = resources.files("printworks.invoices").joinpath("fonts")
_FACES: Final = {"": "DejaVuSansCondensed.ttf", "B": "DejaVuSansCondensed-Bold.ttf"}
_FONT: Final = "DejaVu Sans Condensed"
# In millimetres. The address is where an envelope has its window.
_LEFT, _RIGHT, _TOP, _BOTTOM = 25.0, 20.0, 20.0, 36.0
_ADDRESS_TOP, _FACTS_LEFT, _BODY_TOP = 45.0, 122.0, 100.0
# No line has room for more characters.
_LONGEST: Final = 300
_FOOT_TOP: Final = 297 - 28.0
_INK, _SOFT, _RULE = (28, 33, 40), (96, 104, 115), (208, 213, 220)
# Where the logo is on every page: the room above the address, on the right.
_LOGO_TOP, _LOGO_WIDTH, _LOGO_HEIGHT = 13.0, 60.0, 18.0
_JPEG: Final = b"\xff\xd8\xff"


class _Column(NamedTuple):
    phrase: str
    width: float
    align: Align


_COLUMNS: Final = (
    _Column("description", 68, Align.L),
    _Column("order", 20, Align.R),
    _Column("quantity", 13, Align.R),
    _Column("unit-price", 23, Align.R),
    _Column("tax-rate", 15, Align.R),
    _Column("net-amount", 26, Align.R),
)


class _Logo(NamedTuple):
    """A logo in the size in which it is printed."""

    content: bytes
    width: float
    height: float


def _read_logo(content: bytes | None) -> _Logo | None:
    """Return a logo as large as there is room; None without one, or if it is not what we drew."""
    if content is None or not content.startswith(_JPEG):
        return None
    try:
        found = get_img_info("logo", content)
    except (OSError, ValueError, SyntaxError):
        # A document must be printed in any case.
        return None
    wide, high = found.width, found.height
    scale = min(_LOGO_WIDTH / wide, _LOGO_HEIGHT / high)
    return _Logo(content, wide * scale, high * scale)


def _read_colour(accent: str) -> tuple[int, int, int]:
    """Return the accent colour, or that of all texts."""
    if not accent:
        return _INK
    red, green, blue = bytes.fromhex(accent[1:])
    return red, green, blue


class _Sheet(FPDF):
    """Pages with the seller above and below."""

    def __init__(self, invoice: Invoice, brand: PaperBrand) -> None:
        super().__init__(format="A4", enforce_compliance="PDF/A-3B")
        self.invoice = invoice
        self.logo = _read_logo(brand.logo)
        self.accent = _read_colour(brand.accent)
        self.words = Words(invoice.language, invoice.buyer.country)
        for style, file in _FACES.items():
            with resources.as_file(_FONTS.joinpath(file)) as place:
                self.add_font(_FONT, style, place)
        self.set_margins(_LEFT, _TOP, _RIGHT)
        self.set_auto_page_break(True, margin=_BOTTOM)
        self.set_draw_color(*_RULE)
        self.set_line_width(0.2)

    def say(self, phrase: str, /, **values: object) -> str:
        return say(self.invoice.language, phrase, **values)

    def money(self, minor: int) -> str:
        return self.words.money(minor, self.invoice.currency)

    def date(self, day: date) -> str:
        return self.words.date(day)

    def use(self, size: float, *, bold: bool = False, soft: bool = False) -> None:
        """Write what follows in this size."""
        self.set_font(_FONT, "B" if bold else "", size)
        self.set_text_color(*(_SOFT if soft else _INK))

    def fit(self, text: str, width: float) -> str:
        """Return a text on one line that is no wider than this; the end may be missing."""
        text = self.legible(text[:_LONGEST])
        while text and self.get_string_width(text) > width:
            text = text[: -2 if text.endswith("…") else None].rstrip() + "…"
            if text == "…":
                break
        return text

    def legible(self, text: str) -> str:
        """Return a text of characters that the font has."""
        font: Any = self.current_font
        return "".join(c if ord(c) in font.cmap else "?" for c in clean(text))

    def put(
        self, text: str, *, width: float = 0, height: float = 5, align: Align = Align.L
    ) -> None:
        """Write a line, and go to the next one."""
        self.cell(width, height, self.legible(text), align=align, new_x=XPos.LEFT, new_y=YPos.NEXT)

    def header(self) -> None:
        """Write whose document it is; FPDF calls this on every page."""
        taken = 0.0
        if self.logo is not None:
            taken = self.logo.width + 5
            left = 210 - _RIGHT - self.logo.width
            top = _LOGO_TOP + (_LOGO_HEIGHT - self.logo.height) / 2
            self.image(self.logo.content, left, top, self.logo.width, self.logo.height)
        self.set_xy(_LEFT, _TOP)
        self.use(15, bold=True)
        self.cell(0, 7, self.fit(self.invoice.seller.name, 165 - taken))
        if self.page_no() > 1:
            self.set_xy(_LEFT, _TOP + 8)
            self.use(8.5, soft=True)
            title = f"{self.say(self.invoice.kind)} {self.invoice.number}"
            self.cell(0, 5, title)
            self.set_y(_TOP + 18)
            _write_heads(self)

    def footer(self) -> None:
        """Write the seller's details and the number of the page; FPDF calls this on every page."""
        self.line(_LEFT, _FOOT_TOP - 2, 210 - _RIGHT, _FOOT_TOP - 2)
        for place, column in enumerate(_list_foot(self.invoice, self)):
            self.set_xy(_LEFT + place * 56, _FOOT_TOP)
            for text in column[:5]:
                self.use(7, soft=True)
                self.put(self.fit(text, 53), width=54, height=3.4)
        self.use(7, soft=True)
        page = self.say("page", page=self.page_no(), pages="{nb}")
        # How many pages there are is not known yet: it takes the place of two digits.
        width = self.get_string_width(page.replace("{nb}", "00"))
        self.set_xy(210 - _RIGHT - width - 2, _FOOT_TOP + 17)
        self.cell(0, 4, page)


def print_invoice(invoice: Invoice, brand: PaperBrand = PLAIN_PAPER) -> bytes:
    """Return a document as a PDF that is the same whenever it is written with this brand."""
    sheet = _Sheet(invoice, brand)
    made = datetime.combine(invoice.issued_on, time(), UTC)
    title = f"{sheet.say(invoice.kind)} {invoice.number}"
    sheet.set_title(title)
    sheet.set_author(clean(invoice.seller.name))
    sheet.set_lang(invoice.language)
    sheet.set_creation_date(made)
    sheet.set_producer("Printworks")
    sheet.set_xmp_metadata(write_metadata(title, clean(invoice.seller.name), made))
    sheet.add_page()
    _write_address(sheet, invoice)
    _write_facts(sheet, invoice)
    _write_title(sheet, title)
    _write_lines(sheet, invoice)
    _write_totals(sheet, invoice)
    _write_sentences(sheet, invoice)
    sheet.embed_file(
        bytes=write_structured(invoice),
        basename=FILE_NAME,
        mime_type="text/xml",
        associated_file_relationship="Alternative",
        desc="The same document for programs (Factur-X, EN 16931)",
        creation_date=made,
        modification_date=made,
        checksum=True,
    )
    return bytes(sheet.output())


def _write_address(sheet: _Sheet, invoice: Invoice) -> None:
    sheet.set_xy(_LEFT, _ADDRESS_TOP)
    sheet.use(6.5, soft=True)
    sender = " · ".join(_list_address(invoice.seller, sheet.words, with_country=False))
    sheet.put(sheet.fit(sender, 85), height=4)
    sheet.set_xy(_LEFT, _ADDRESS_TOP + 6)
    abroad = invoice.buyer.country != invoice.seller.country
    for text in _list_address(invoice.buyer, sheet.words, with_country=abroad)[:8]:
        sheet.use(10)
        sheet.put(sheet.fit(text, 85), height=5)


def _list_address(party: InvoiceParty, words: Words, *, with_country: bool) -> list[str]:
    town = " ".join(part for part in (party.postal_code, party.town) if part)
    lines = [party.name, *party.address, town]
    if with_country:
        lines.append(words.country(party.country))
    return [line for line in lines if clean(line)]


def _write_facts(sheet: _Sheet, invoice: Invoice) -> None:
    facts = [("number", invoice.number), ("date", sheet.date(invoice.issued_on))]
    if invoice.supplied_from == invoice.supplied_until:
        facts.append(("supplied", sheet.date(invoice.supplied_until)))
    else:
        since = sheet.words.short_date(invoice.supplied_from)
        facts.append(
            ("period", f"{since} \N{EN DASH} {sheet.words.short_date(invoice.supplied_until)}")
        )
    facts.append(("merchant", invoice.buyer_code))
    if invoice.buyer.vat_id:
        facts.append(("your-vat-id", invoice.buyer.vat_id))
    if invoice.corrects is not None:
        day = sheet.words.short_date(invoice.corrects.issued_on)
        is_credit = invoice.kind is InvoiceKind.CREDIT_NOTE
        phrase = "corrects" if is_credit else "takes-back"
        facts.append((phrase, sheet.say("of-date", number=invoice.corrects.number, date=day)))
    for place, (phrase, text) in enumerate(facts):
        sheet.set_xy(_FACTS_LEFT, _ADDRESS_TOP + 6 + place * 5)
        sheet.use(8, soft=True)
        label = sheet.say(phrase)
        room = 210 - _RIGHT - _FACTS_LEFT - sheet.get_string_width(label) - 5
        sheet.cell(28, 5, label)
        sheet.use(8.5)
        sheet.set_x(_FACTS_LEFT)
        sheet.cell(0, 5, sheet.fit(text, room), align=Align.R)


def _write_title(sheet: _Sheet, title: str) -> None:
    sheet.set_xy(_LEFT, _BODY_TOP - 14)
    sheet.use(16, bold=True)
    sheet.set_text_color(*sheet.accent)
    sheet.cell(0, 9, title)
    sheet.set_xy(_LEFT, _BODY_TOP)
    _write_heads(sheet)


def _write_heads(sheet: _Sheet) -> None:
    sheet.use(8, soft=True)
    sheet.set_x(_LEFT)
    for column in _COLUMNS:
        sheet.cell(column.width, 6, sheet.say(column.phrase), align=column.align)
    sheet.ln(6)
    sheet.line(_LEFT, sheet.get_y(), 210 - _RIGHT, sheet.get_y())
    sheet.ln(1)


def _write_lines(sheet: _Sheet, invoice: Invoice) -> None:
    for line in invoice.lines:
        _write_line(sheet, line)
    sheet.ln(1)
    sheet.line(_LEFT, sheet.get_y(), 210 - _RIGHT, sheet.get_y())


def _write_line(sheet: _Sheet, line: InvoiceLine) -> None:
    sheet.use(9)
    wanted = sheet.legible((line.description or line.sku)[:_LONGEST])
    rows = _wrap(sheet, wanted, _COLUMNS[0].width - 2)[:3]
    if sheet.will_page_break(4.5 * len(rows) + 1.5):
        sheet.add_page()
        sheet.use(9)
    top = sheet.get_y()
    for text in rows:
        sheet.set_x(_LEFT)
        sheet.cell(_COLUMNS[0].width, 4.5, text, new_x=XPos.LEFT, new_y=YPos.NEXT)
    below = sheet.get_y()
    sheet.set_xy(_LEFT + _COLUMNS[0].width, top)
    for column, text in zip(_COLUMNS[1:], _list_figures(sheet, line), strict=True):
        sheet.cell(column.width, 4.5, text, align=column.align)
    sheet.set_xy(_LEFT, below + 1)


def _wrap(sheet: _Sheet, text: str, width: float) -> list[str]:
    """Return the lines of a text that are no wider than this."""
    found: Any = sheet.multi_cell(width, 4.5, text, dry_run=True, output=MethodReturnValue.LINES)
    return [str(line) for line in found]


def _list_figures(sheet: _Sheet, line: InvoiceLine) -> tuple[str, ...]:
    # One of several may have a price between two minor units: then only their sum is said.
    each = "" if line.net % line.quantity else sheet.money(line.net // line.quantity)
    return (
        str(line.order_id),
        sheet.words.number(line.quantity),
        each,
        _write_percent(sheet, line.rate),
        sheet.money(line.net),
    )


def _write_percent(sheet: _Sheet, rate: TaxRate) -> str:
    written = format_decimal(rate.rate / 100, locale=str(sheet.words.language))
    return f"{written} %"


def _write_totals(sheet: _Sheet, invoice: Invoice) -> None:
    is_credit = invoice.kind is InvoiceKind.CREDIT_NOTE
    rows = [(sheet.say("net-total"), invoice.net)]
    for rate, amount in invoice.sums.items():
        if rate.rate:
            percent = _write_percent(sheet, rate)
            if len({each.country for each in invoice.sums if each.rate}) > 1:
                percent = f"{percent} ({rate.country})"
            said = sheet.say("tax-on", rate=percent, net=sheet.money(amount.net))
            rows.append((said, amount.tax))
    last = [("total-credited" if is_credit else "total", invoice.gross)]
    if invoice.paid:
        last += [("paid", -invoice.paid), ("amount-due", invoice.due)]
    if sheet.will_page_break(6 * (len(rows) + len(last)) + 4):
        sheet.add_page()
    sheet.ln(2)
    for text, minor in rows:
        _write_total(sheet, text, minor, bold=False)
    with sheet.local_context(draw_color=_RULE if sheet.accent == _INK else sheet.accent):
        sheet.line(110, sheet.get_y() + 1, 210 - _RIGHT, sheet.get_y() + 1)
    sheet.ln(2)
    for phrase, minor in last:
        _write_total(sheet, sheet.say(phrase), minor, bold=phrase != "paid")


def _write_total(sheet: _Sheet, text: str, amount: int, *, bold: bool) -> None:
    sheet.set_x(75)
    sheet.use(10.5 if bold else 9, bold=bold)
    sheet.cell(80, 5.6, sheet.legible(text), align=Align.R)
    sheet.cell(0, 5.6, sheet.money(amount), align=Align.R)
    sheet.ln(5.6)


def _write_sentences(sheet: _Sheet, invoice: Invoice) -> None:
    sentences = [explain(invoice.language, category) for category in sorted(invoice.categories)]
    sentences.append(_say_payment(sheet, invoice))
    sentences.append(clean(invoice.footer) or None)
    sheet.ln(6)
    for sentence in sentences:
        if sentence is not None:
            sheet.use(9)
            sheet.set_x(_LEFT)
            sheet.multi_cell(0, 4.8, sheet.legible(sentence), align=Align.L)
            sheet.ln(1.5)


def _say_payment(sheet: _Sheet, invoice: Invoice) -> str:
    if invoice.kind is InvoiceKind.CREDIT_NOTE:
        return sheet.say("is-credited")
    if not invoice.due:
        return sheet.say("is-paid")
    if invoice.bank is None or invoice.due_on is None:
        return sheet.say("on-account")
    amount, day = sheet.money(invoice.due), sheet.date(invoice.due_on)
    return sheet.say("pay-by", amount=amount, date=day, number=invoice.number)


def _list_foot(invoice: Invoice, sheet: _Sheet) -> tuple[list[str], list[str], list[str]]:
    seller, bank = invoice.seller, invoice.bank
    who = _list_address(seller, sheet.words, with_country=True)
    numbers = [
        f"{sheet.say('vat-id')} {seller.vat_id}" if seller.vat_id else "",
        f"{sheet.say('registration')} {seller.registration}" if seller.registration else "",
        *(seller.email, seller.telephone, seller.website),
    ]
    account = [] if bank is None else [sheet.say("bank"), bank.holder, bank.bank]
    if bank is not None:
        account += [f"IBAN {bank.iban}", f"BIC {bank.bic}" if bank.bic else ""]
    return (
        [text for text in who if text],
        [text for text in numbers if text],
        [text for text in account if text],
    )
