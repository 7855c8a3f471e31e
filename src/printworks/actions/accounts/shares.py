"""What a merchant may send: its own limits of requests."""

from typing import Final

from printworks.actions.work import Work
from printworks.errors import BadInput
from printworks.rules.shares import RequestShare, ShareTerms
from printworks.settings import Settings
from printworks.store.accounts.merchants import set_share_terms

_MOST: Final = 1_000_000
_NAMES: Final = ("rate", "burst", "number of concurrent requests")


def usual_share(settings: Settings) -> RequestShare:
    """Return the share of a merchant without terms of its own, on all machines."""
    return RequestShare(
        settings.merchant_rate,
        settings.merchant_burst,
        settings.merchant_in_work,
        settings.merchant_queue,
    )


def change_share(work: Work, terms: ShareTerms) -> None:
    """Give a merchant limits of its own; None is that of the installation.

    Web processes know within seconds.
    """
    for (field, limit), name in zip(terms._asdict().items(), _NAMES, strict=True):
        if limit is not None and not 1 <= limit <= _MOST:
            message = f"The {name} must be from 1 to {_MOST}, or the usual one."
            raise BadInput(message, field=f"requests_{field}")
    if terms == work.merchant.share_terms:
        return
    set_share_terms(work.db, work.merchant.id, terms)
    work.audit("change-limits", work.merchant.code, **terms._asdict())
