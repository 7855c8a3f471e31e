"""`printworks brand`: what the operator calls the service, and how it looks."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from printworks.actions.accounts.shops import begin_logo, render_logo
from printworks.actions.brand import change_brand, change_brand_logo
from printworks.cli.output import align
from printworks.cli.session import CommandSession, command
from printworks.errors import BadInput
from printworks.store.accounts.brand import StoredBrand, read_brand

app = typer.Typer()


@command(app, "show")
def show_brand(session: CommandSession) -> None:
    """Show the brand."""
    with session.reading() as db:
        stored = read_brand(db)
    _show(session, stored)


@command(app, "set")
def set_brand(
    session: CommandSession,
    *,
    name: Annotated[str | None, typer.Option(help="What the service is called.")] = None,
    accent: Annotated[
        str | None, typer.Option(help="The colour of links and buttons, such as #2443b8.")
    ] = None,
    logo: Annotated[
        Path | None, typer.Option(help="A picture: JPEG, PNG, WebP or TIFF.", dir_okay=False)
    ] = None,
    without_logo: Annotated[bool, typer.Option("--no-logo", help="Remove the logo.")] = False,
    sender_name: Annotated[str | None, typer.Option(help="Who emails are from.")] = None,
    sender_email: Annotated[
        str | None, typer.Option(help="The address that emails are from.")
    ] = None,
    reply_to: Annotated[str | None, typer.Option(help="Where answers to emails go.")] = None,
    imprint: Annotated[Path | None, typer.Option(help="A file with the legal notice.")] = None,
    terms: Annotated[Path | None, typer.Option(help="A file with the terms.")] = None,
    show_labs: Annotated[
        bool | None,
        typer.Option("--show-labs/--hide-labs", help="Whether merchants see their labs."),
    ] = None,
) -> None:
    """Change the brand; an empty text is as without a brand. Every process follows in seconds."""
    if logo is not None and without_logo:
        raise BadInput("Either give a logo or remove it.")
    said: dict[str, Any] = {
        "name": name,
        "accent": accent,
        "sender_name": sender_name,
        "sender_email": sender_email,
        "reply_to": reply_to,
        "imprint": _read(imprint),
        "terms": _read(terms),
        "show_labs": show_labs,
    }
    changes = {field: value for field, value in said.items() if value is not None}
    with session.system_work() as work:
        change_brand(work, msgspec.structs.replace(read_brand(work.db).brand, **changes))
        if without_logo:
            change_brand_logo(work, None, None)
    if logo is not None:
        _upload(session, logo)
    with session.reading() as db:
        stored = read_brand(db)
    _show(session, stored)


def _read(file: Path | None) -> str | None:
    if file is None:
        return None
    try:
        return file.read_text(errors="replace")
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {error.strerror}.") from error


def _upload(session: CommandSession, logo: Path) -> None:
    services = session.services
    try:
        sent = logo.open("rb")
    except OSError as error:
        raise BadInput(f"{logo} cannot be read: {error.strerror}.") from error
    with sent:
        with session.system_work() as work:
            upload = begin_logo(work)
        rendered = render_logo(services.processor, services.files, upload, sent)
        with session.system_work() as work:
            change_brand_logo(work, upload, rendered)


def _show(session: CommandSession, stored: StoredBrand) -> None:
    brand = stored.brand
    facts = {
        "name": stored.name,
        "accent": brand.accent or None,
        "hasLogo": stored.logo is not None,
        "senderName": brand.sender_name or None,
        "senderEmail": brand.sender_email or None,
        "replyTo": brand.reply_to or None,
        "imprint": brand.imprint,
        "terms": brand.terms,
        "showLabs": brand.show_labs,
    }
    texts = {
        "name": stored.name,
        "accent colour": brand.accent or "the usual one",
        "logo": "yes" if stored.logo else "none",
        "sender": " ".join(filter(None, (brand.sender_name, brand.sender_email))) or "as set",
        "replies to": brand.reply_to or "as set",
        "imprint": _count(brand.imprint),
        "terms": _count(brand.terms),
        "labs": "shown to merchants" if brand.show_labs else "not shown to merchants",
    }
    session.show(facts, *align(texts))


def _count(text: str) -> str:
    return f"{len(text.splitlines())} lines" if text else "none"
