"""Writes what an endpoint returns as the answer of its version."""

from typing import Any

from printworks.api.endpoints import FileAnswer, Marked, WithStatus, WrittenAnswer
from printworks.api.kept_answers import MarkedAnswers
from printworks.api.long_lists import LongList, make_response
from printworks.api.messages import Response
from printworks.api.refusals import answer_error
from printworks.api.responses import render
from printworks.api.routing import MatchedRequest
from printworks.api.tags import tag_by_body
from printworks.clock import Clock
from printworks.errors import ServiceError


class AnswerWriter:
    """Writes answers, and keeps those that may be asked for again; safe in many threads."""

    def __init__(self, marked: MarkedAnswers, clock: Clock) -> None:
        self._marked = marked
        self._clock = clock

    def write(self, matched: MatchedRequest, result: Any) -> Response:
        """Return the answer to a request whose endpoint came to this."""
        accept = matched.request.headers.get("accept", "")
        family, endpoint = matched.family, matched.endpoint
        match result:
            case ServiceError():
                return answer_error(matched, result)
            case WithStatus(status, shape):
                return render(status, family.show(endpoint.also_shows[status], shape), accept)
            case FileAnswer(media_type, name, content):
                headers = (("Content-Disposition", f'attachment; filename="{name}"'),)
                response = Response(200, media_type, content, headers)
            case WrittenAnswer(media_type, body):
                return Response(200, media_type, body)
            case LongList():
                return make_response(family, endpoint, matched.request, result, self._clock())
            case Marked(shape, str(mark)):
                return self._marked.write(matched, shape, mark)
            case Marked(shape, None):
                response = render(200, family.show(endpoint.shows, shape), accept)
            case _:
                response = render(200, family.show(endpoint.shows, result), accept)
        return tag_by_body(response, matched.request) if endpoint.method == "GET" else response
