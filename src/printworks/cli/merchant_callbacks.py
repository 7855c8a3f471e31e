"""`printworks merchant callback`: where a merchant's callbacks go, and how they are signed."""

from typing import Annotated

import typer

from printworks.actions.callbacks import (
    open_secrets,
    retry_challenge,
    rotate_secret,
    send_test,
    set_callback,
    trust_addresses,
)
from printworks.cli.options import MerchantId
from printworks.cli.output import align, pick, write
from printworks.cli.session import CommandSession, command
from printworks.rules.callbacks import CallbackFormat
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.callbacks.settings import (
    CallbackCandidate,
    CallbackSettings,
    read_callback_settings,
)

app = typer.Typer(no_args_is_help=True)


@command(app, "show")
def show(session: CommandSession, merchant_id: MerchantId) -> None:
    """Show where a merchant's callbacks go, and in which format."""
    with session.reading() as db:
        settings = read_callback_settings(db, get_merchant_by_code(db, merchant_id).id)
    _show(session, settings)


@command(app, "set")
def set_address(
    session: CommandSession,
    merchant_id: MerchantId,
    url: Annotated[str, typer.Argument(help="A public http or https address.")],
    *,
    wanted: Annotated[
        CallbackFormat | None,
        typer.Option(
            "--format", help="In which format; by default that of the version that made the order."
        ),
    ] = None,
    without_challenge: Annotated[
        bool, typer.Option("--without-challenge", help="Use it at once: you know whose it is.")
    ] = False,
) -> None:
    """Send a merchant's callbacks to this address from now on; the secret stays as it is.

    In a live service its owner has to answer a challenge first.
    """
    with session.work(merchant_id) as work:
        settings, _ = set_callback(work, url, wanted, without_challenge=without_challenge)
    _show(session, settings)


@command(app, "retry")
def retry(session: CommandSession, merchant_id: MerchantId) -> None:
    """Challenge a new address again, whose owner has not answered yet."""
    with session.work(merchant_id) as work:
        settings = retry_challenge(work)
    _show(session, settings)


@command(app, "trust")
def trust(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    stop: Annotated[
        bool, typer.Option("--stop", help="Challenge its new addresses again from now on.")
    ] = False,
) -> None:
    """Challenge no address of a merchant from now on, and use one that waits."""
    with session.work(merchant_id) as work:
        settings = trust_addresses(work, is_trusted=not stop)
    _show(session, settings)


@command(app, "clear")
def clear(session: CommandSession, merchant_id: MerchantId) -> None:
    """Send a merchant no more callbacks; events stay in its feed."""
    with session.work(merchant_id) as work:
        set_callback(work, None)
    session.done(f"{merchant_id} gets no callbacks any more.", merchantId=merchant_id)


@command(app, "secret")
def secret(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    rotate: Annotated[
        bool, typer.Option("--rotate", help="Make a new one; the last one stays valid for a day.")
    ] = False,
) -> None:
    """Print the secret with which a merchant's callbacks are signed."""
    with session.work(merchant_id) as work:
        if rotate:
            rotate_secret(work)
        stored, now = read_callback_settings(work.db, work.merchant.id).secrets, work.real_now
        texts = open_secrets(work.backing.vault, work.merchant.id, stored, now)
    valid = [(text, one.until) for text, one in zip(texts, stored, strict=False)]
    lines = [text if until is None else f"{text}  until {write(until)}" for text, until in valid]
    session.show(
        [{"secret": text, "until": until} for text, until in valid],
        *(lines or ["There is no secret yet; set an address, or use --rotate."]),
    )


@command(app, "test")
def send_example(session: CommandSession, merchant_id: MerchantId) -> None:
    """Send an example to a merchant's address, once."""
    with session.work(merchant_id) as work:
        callback = send_test(work)
    session.done(
        f"Callback {callback} is on its way; "
        f"`printworks callback show {callback}` shows the result.",
        callback=callback,
    )


def _show(session: CommandSession, settings: CallbackSettings) -> None:
    facts = {
        "address": settings.url or "none",
        "format": settings.format or "that of the version that made the order",
    }
    candidate = settings.candidate
    if candidate is not None:
        facts["new address"] = f"{candidate.url}, {_describe(candidate)}"
    if settings.is_trusted:
        facts["challenge"] = "waived for this merchant"
    session.show(
        {
            "url": settings.url,
            "format": settings.format,
            "candidate": candidate
            and pick(candidate, "url", "since", "failures", "error", "is_over"),
            "isTrusted": settings.is_trusted,
        },
        *align(facts),
    )


def _describe(candidate: CallbackCandidate) -> str:
    if candidate.error is None:
        return "being challenged"
    state = "not challenged any more" if candidate.is_over else "challenged again soon"
    return f"{state} ({candidate.error})"
