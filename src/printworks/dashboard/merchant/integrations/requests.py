"""The API requests of a merchant in the last days."""

from collections.abc import Mapping
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.merchant.integrations.api_access import describe_access
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.store.accounts.merchants import list_keys
from printworks.store.accounts.requests import RequestFilter, get_request, list_requests

_ROWS: Final = 50
_REFUSED: Final = 400
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
    keys = list_keys(visit.db, visit.merchant.id, now=visit.real_now)
    key = next((one for one in keys if str(one.id) == visit.query.get("key", "")), None)
    page = list_requests(
        visit.db,
        visit.merchant.id,
        before=visit.cursor(),
        limit=_ROWS,
        wanted=msgspec.structs.replace(
            _ANSWERS[answer][1],
            method=method or None,
            words=words.replace("\0", ""),
            key_id=key.id if key else None,
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
        keys=[(one.id, name_key(one.name, one.hint)) for one in keys],
        key=key.id if key else "",
        is_filtered=bool(answer or method or words or key),
        pages=visit.pages(page.older),
        looks_again="" if visit.cursor() is not None else visit.here(seen=etag),
        days=visit.services.settings.keep_requests.days,
        access=describe_access(visit),
    )


@page_at("/requests/{id}")
def show_request(visit: MerchantVisit) -> Response:
    """Show all that is known of one request: why it was refused, what was sent and answered."""
    asked = get_request(visit.db, visit.merchant.id, visit.number("id"))
    is_known = asked.key_hint is not None
    return visit.render(
        "merchant/request.html",
        asked=asked,
        key=name_key(asked.key_name or "", asked.key_hint or "") if is_known else "",
        is_refused=asked.status >= _REFUSED,
        days=visit.services.settings.keep_requests.days,
    )


def name_key(name: str, hint: str) -> str:
    """Name a key as its owner does, or by its last letters."""
    return f"{name} (…{hint})" if name else f"…{hint}"
