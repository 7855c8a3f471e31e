"""Render pages from templates, with their security headers."""

import secrets
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, Final

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, RedirectResponse

from printworks.catalogue.country_names import name_country
from printworks.dashboard.shared.ages import write_age
from printworks.dashboard.shared.callbacks import describe_event, describe_result, excerpt
from printworks.dashboard.shared.code_words import describe_details, speak
from printworks.dashboard.shared.dates import (
    write_date,
    write_day,
    write_day_of_year,
    write_instant,
    write_soon,
    write_stored_day,
    write_time,
    write_timestamp,
)
from printworks.dashboard.shared.labels import (
    Tone,
    label,
    label_order,
    name_attribute,
    name_carrier,
    name_device,
    name_provider,
    operator_label,
)
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.shared.money_words import (
    describe_balance,
    describe_entry,
    describe_their_balance,
)
from printworks.dashboard.shared.price_words import explain_prices, is_quoted
from printworks.dashboard.shared.product_pictures import draw_motif, show_photograph
from printworks.dashboard.site.assets import address_of
from printworks.dashboard.site.branding import ShownBrand
from printworks.dashboard.site.time_zones import reading_in, shift_to_reader
from printworks.language.words import Words
from printworks.rules.languages import Language
from printworks.rules.reasons import write_reasons
from printworks.rules.shops import UTC_ZONE

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:{files}; {scripts}"
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# Addresses are secrets here, and what is at them changes.
_ON_EVERY_PAGE: Final = {"Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}


ENGLISH: Final = Words(Language.EN)


class Fact(msgspec.Struct, frozen=True):
    """A label and what it stands before."""

    label: str
    text: str


class Link(msgspec.Struct, frozen=True):
    """Where one can go from a page."""

    text: str
    address: str


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """A page that says one thing, and what to do next."""

    title: str
    sentences: tuple[str, ...] = ()
    tone: Tone = ""
    facts: tuple[Fact, ...] = ()
    link: Link | None = None
    # Whose page it is, if not ours.
    heading: str = ""


class Onwards(msgspec.Struct, frozen=True):
    """Where the browser goes by itself after a while: to the same page unless said otherwise.

    The only way from a form to another site: browsers apply `form-action` to every redirect
    that follows a form, but not to this.
    """

    after: timedelta = timedelta()
    to: str = ""


def mark_code(text: str) -> Markup:
    """Return a sentence in which what stands between backticks is code."""
    parts = [
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(text.split("`"))
    ]
    return Markup("").join(parts)


def _of_reader(write: Callable[[Any], str]) -> Callable[[date], str]:
    """Write times in the time zone of the reader; a day is the same everywhere."""
    return lambda at: write(shift_to_reader(at) if isinstance(at, datetime) else at)


def _open_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("printworks.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "age": write_age,
        "attribute": name_attribute,
        "balance": describe_balance,
        "their_balance": describe_their_balance,
        "carrier": name_carrier,
        "country": name_country,
        "date": _of_reader(write_date),
        "day": _of_reader(write_day),
        "day_of_year": _of_reader(write_day_of_year),
        "device": name_device,
        "details": describe_details,
        "stored_day": write_stored_day,
        "event": describe_event,
        "excerpt": excerpt,
        "explain": write_reasons,
        "inline_code": mark_code,
        "instant": _of_reader(write_instant),
        "label": label,
        "order_label": label_order,
        "timestamp": _of_reader(write_timestamp),
        "money": format_money,
        "operator_label": operator_label,
        "provider": name_provider,
        "response": describe_result,
        "soon": _of_reader(write_soon),
        "spoken": speak,
        "time": _of_reader(write_time),
    }
    environment.globals["brand"] = ShownBrand()
    environment.globals["entry_words"] = describe_entry
    environment.globals["explain_prices"] = explain_prices
    environment.globals["is_quoted"] = is_quoted
    environment.globals["copying"] = address_of("copying.js")
    # What a page is given to write in another language takes the place of these.
    environment.globals["say"] = ENGLISH.say
    environment.globals["language"] = ENGLISH.language.value
    environment.globals["style"] = address_of("style.css")
    environment.globals["passkeys"] = address_of("passkeys.js")
    environment.globals["crop_script"] = address_of("crop.js")
    environment.globals["order_form"] = address_of("order_form.js")
    environment.globals["pictures"] = address_of("pictures.js")
    environment.globals["htmx"] = address_of("htmx.js")
    environment.globals["forms_script"] = address_of("forms.js")
    environment.globals["reference_script"] = address_of("reference.js")
    environment.globals["icon"] = address_of("icon.svg")
    environment.globals["draw_motif"] = draw_motif
    environment.globals["show_photograph"] = show_photograph
    return environment


_ENVIRONMENT: Final = _open_environment()


def render(
    template: str,
    *,
    status: int = 200,
    onwards: Onwards | None = None,
    with_script: bool = False,
    time_zone: str = UTC_ZONE,
    with_files: bool = False,
    **facts: Any,
) -> HTMLResponse:
    """Return a page; its template gets the facts, and a `nonce` if it has a script.

    `with_files` lets its script show pictures that are still on the person's machine. Times are
    written in the time zone of the reader.
    """
    scripts = ""
    if with_script:
        facts["nonce"] = secrets.token_urlsafe(16)
        scripts = f"script-src 'nonce-{facts['nonce']}'; connect-src 'self'; "
    policy = _POLICY.format(files=" blob:" if with_files else "", scripts=scripts)
    headers = {"Content-Security-Policy": policy, **_ON_EVERY_PAGE}
    if onwards is not None:
        headers["Refresh"] = _describe(onwards)
    with reading_in(time_zone):
        page = _ENVIRONMENT.get_template(template).render(**facts)
    return HTMLResponse(page, status_code=status, headers=headers)


def write_page(template: str, **facts: Any) -> str:
    """Return the text of a page that is the same for everybody."""
    return _ENVIRONMENT.get_template(template).render(**facts)


def render_message(
    message: Message,
    *,
    status: int = 200,
    onwards: Onwards | None = None,
    words: Words = ENGLISH,
) -> HTMLResponse:
    """Return a page that says one thing, in words that the caller has chosen."""
    return render(
        "message.html",
        status=status,
        onwards=onwards,
        message=message,
        say=words.say,
        language=words.language.value,
    )


def send_on(address: str) -> RedirectResponse:
    """Redirect the browser to another page, with a GET."""
    return RedirectResponse(address, status_code=303, headers=dict(_ON_EVERY_PAGE))


def _describe(onwards: Onwards) -> str:
    seconds = int(onwards.after.total_seconds())
    return f"{seconds};url={onwards.to}" if onwards.to else str(seconds)
