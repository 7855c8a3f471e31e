"""The API requests of a merchant in the last days."""

from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.merchant.integrations.api_access import describe_access
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.store.accounts.requests import RequestFilter, list_requests

_ROWS: Final = 50
_METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
# Which answers to show, by what stands in the address.
_ANSWERS: Final[Mapping[str, tuple[str, RequestFilter]]] = {
    "": ("All answers", RequestFilter()),
    "errors": ("Only errors", RequestFilter(only_errors=True)),
    "refused": ("Refused (4xx)", RequestFilter(status_class=4)),
    "failed": ("Failed (5xx)", RequestFilter(status_class=5)),
}


@page_at("/requests")
def show_requests(visit: MerchantVisit) -> Response:
    """Show the requests, newest first, refreshed as they come."""
    wanted = visit.query.get("answer", "")
    answer = wanted if wanted in _ANSWERS else ""
    method = visit.query.get("method", "")
    method = method if method in _METHODS else ""
    words = visit.query.get("words", "").strip()
    page = list_requests(
        visit.db,
        visit.merchant.id,
        before=visit.cursor(),
        limit=_ROWS,
        wanted=msgspec.structs.replace(
            _ANSWERS[answer][1], method=method or None, words=words.replace("\0", "")
        ),
    )
    etag = visit.etag(page.requests[0].id if page.requests else 0)
    return visit.render(
        "merchant/requests.html",
        requests=page.requests,
        answers=[(name, text) for name, (text, _) in _ANSWERS.items() if name],
        methods=_METHODS,
        answer=answer,
        method=method,
        words=words,
        is_filtered=bool(answer or method or words),
        pages=visit.pages(page.older),
        looks_again="" if visit.cursor() is not None else visit.here(seen=etag),
        days=visit.services.settings.keep_requests.days,
        access=describe_access(visit),
    )
