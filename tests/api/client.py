"""Asks the application directly, without a socket, and holds every answer to its document."""

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote, urlencode

import jsonschema_rs

from printworks.api.openapi import describe, path_of
from printworks.api.routing import FoundEndpoint, NoSuchMethod, Router
from printworks.web.app import Application
from printworks.web.families import FAMILIES
from tests.running import Answer

T = TypeVar("T")

ROUTER: Final = Router(FAMILIES)


class Server:
    """An application that runs in a thread of its own."""

    def __init__(self, app: Application) -> None:
        self.app = app
        # The body of every tagged answer, by its address, the headers of its request and its tag.
        self.seen: dict[tuple[Any, ...], bytes] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.run(self._start())

    async def _start(self) -> None:
        self.app.start()

    async def _stop(self) -> None:
        self.app.stop()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the application's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def close(self) -> None:
        """End the application."""
        self.run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def ask(self, scope: dict[str, Any], messages: Iterable[dict[str, Any]]) -> Answer:
        """Send one request as ASGI messages and collect the answer."""
        waiting = iter(messages)
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            try:
                return next(waiting)
            except StopIteration:
                await asyncio.Event().wait()
                raise

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], headers, b"".join(part["body"] for part in sent[1:]))


def make_scope(method: str, target: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Describe a request as a server would."""
    path, _, query = target.partition("?")
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "https",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": quote(query, safe="%&=+[]!*'(),;:@/?$~-._").encode(),
        "headers": [
            (name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()
        ],
        "server": ("localhost", 8443),
        "client": ("127.0.0.1", 50000),
    }


@dataclass(frozen=True)
class Client:
    """A merchant's program, for one version of the API."""

    server: Server
    prefix: str
    credentials: Mapping[str, str]

    def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request with any body, and check that its answer is documented."""
        all_headers = {**self.credentials, **(headers or {})}
        scope = make_scope(method, self.prefix + path, all_headers)
        message = {"type": "http.request", "body": body, "more_body": False}
        answer = self.server.run(self.server.ask(scope, [message]))
        check_against_document(method, scope["path"], answer)
        if method == "GET" and answer.status == 200 and "etag" in answer.headers:
            seen = (self.prefix + path, *sorted(all_headers.items()), answer.headers["etag"])
            assert self.server.seen.setdefault(seen, answer.body) == answer.body, (
                f"{path} shows something else under the same ETag"
            )
        return answer

    def get(self, path: str, **headers: str) -> Answer:
        """Read."""
        return self.request("GET", path, headers=headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        """Send JSON."""
        return self._send_json("POST", path, body, headers)

    def put(self, path: str, body: Any = None, **headers: str) -> Answer:
        """Send JSON to change something."""
        return self._send_json("PUT", path, body, headers)

    def patch(self, path: str, body: Any = None, **headers: str) -> Answer:
        """Send JSON to change a part of something."""
        return self._send_json("PATCH", path, body, headers)

    def _send_json(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> Answer:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        content = b"" if body is None else json.dumps(body).encode()
        return self.request(method, path, content, {"Content-Type": "application/json", **given})

    def delete(self, path: str) -> Answer:
        """Remove something."""
        return self.request("DELETE", path)

    def post_form(
        self, path: str, fields: Mapping[str, object] | Sequence[tuple[str, object]]
    ) -> Answer:
        """Send a form; pairs may repeat a name."""
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self.request("POST", path, urlencode(fields).encode(), headers)


def check_against_document(method: str, path: str, answer: Answer) -> None:
    """Fail unless the OpenAPI document of the version allows this answer."""
    found = ROUTER.find(method, path)
    if isinstance(found, NoSuchMethod):
        assert answer.status == 405
        return
    if not isinstance(found, FoundEndpoint):
        return
    document = _document(found.family.version)
    operation = document["paths"][path_of(found.endpoint)][found.endpoint.method.lower()]
    assert str(answer.status) in operation["responses"], f"{answer.status} is not documented"
    if answer.status == 304:
        assert not answer.body
        assert "content-type" not in answer.headers
        return
    media_type = answer.headers["content-type"].partition(";")[0]
    content = operation["responses"][str(answer.status)]["content"]
    assert media_type in content, f"{media_type} is not documented"
    if media_type == "application/json" and method != "HEAD":
        schema = json.dumps(content[media_type]["schema"])
        _validator(found.family.version, schema).validate(answer.json())


@cache
def _document(version: str) -> dict[str, Any]:
    family = next(family for family in FAMILIES if family.version == version)
    return describe(family, header_prefix="X-Service-")


@cache
def _validator(version: str, schema: str) -> Any:
    components = _document(version)["components"]
    return jsonschema_rs.Draft202012Validator({**json.loads(schema), "components": components})
