"""`printworks merchant limits`: how many requests a merchant may send."""

from typing import Annotated, Final

import typer

from printworks.actions.accounts.shares import change_share, usual_share
from printworks.cli.options import MerchantId
from printworks.cli.output import align
from printworks.cli.session import CommandSession, command
from printworks.rules.shares import ShareTerms
from printworks.store.accounts.merchants import get_merchant

app = typer.Typer()

_USUAL: Final = "usual"


@command(app, "limits")
def show_limits(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    rate: Annotated[
        str | None,
        typer.Option(metavar="NUMBER|usual", help="Requests a second in the long run."),
    ] = None,
    burst: Annotated[
        str | None, typer.Option(metavar="NUMBER|usual", help="Requests that may come at once.")
    ] = None,
    in_work: Annotated[
        str | None,
        typer.Option(metavar="NUMBER|usual", help="Requests that are worked on at once."),
    ] = None,
) -> None:
    """Show how many requests a merchant may send, and change that; `usual` is the setting."""
    with session.work(merchant_id) as work:
        own = work.merchant.share_terms
        wanted = ShareTerms(
            _read(rate, own.per_second), _read(burst, own.burst), _read(in_work, own.in_work)
        )
        change_share(work, wanted)
        merchant = get_merchant(work.db, work.merchant.id)
    share = merchant.share_terms.apply_to(usual_share(session.settings))
    facts = {
        "merchantId": merchant.code,
        "requestsPerSecond": int(share.per_second),
        "burst": share.burst,
        "inWork": share.in_work,
        "own": {
            "requestsPerSecond": merchant.requests_per_second,
            "burst": merchant.requests_burst,
            "inWork": merchant.requests_in_work,
        },
    }
    texts = {
        "requests a second": _write(int(share.per_second), merchant.requests_per_second),
        "at once": _write(share.burst, merchant.requests_burst),
        "in work": _write(share.in_work, merchant.requests_in_work),
    }
    session.show(facts, *align(texts))


def _read(said: str | None, now: int | None) -> int | None:
    if said is None:
        return now
    if said == _USUAL:
        return None
    if not (said.isascii() and said.isdigit() and len(said) <= 9):
        raise typer.BadParameter("A limit is a whole number, or `usual`.")
    return int(said)


def _write(limit: int, own: int | None) -> str:
    return f"{limit} ({'its own' if own is not None else _USUAL})"
