"""Requests as real clients send them, byte by byte: see `raw/README.md`."""

import http.client
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.api.v2.raw.comparing import compare, read_expected
from tests.api.v2.raw.reading import VERSIONS, Case, fill, read_cases, write_request
from tests.api.v2.raw.scenes import Stage, set_scene
from tests.conftest import _run, _temporary_postgresql
from tests.running import Answer, Service, running

CASES: Final = list(read_cases())
# As large as the cases say.
LIMITS: Final = {"json_limit": "100000", "upload_limit": "2000000"}


def open_stage(data: Path, **settings: str) -> Iterator[Stage]:
    """Run the real program."""
    with running(data, web_processes="1", **LIMITS, **settings) as service:
        yield Stage(service, service.add_merchant("Alice"), service.add_merchant("Bob"))


@pytest.fixture(scope="module")
def sqlite_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The program on SQLite, for all cases."""
    yield from open_stage(tmp_path_factory.mktemp("raw") / "data")


@pytest.fixture(scope="module")
def postgresql_stage(
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
    _postgresql_template: str,
) -> Iterator[Stage]:
    """The program on PostgreSQL, for all cases."""
    data = tmp_path_factory.mktemp("raw") / "data"
    for url in _temporary_postgresql(pytestconfig.stash[_run], template=_postgresql_template):
        yield from open_stage(data, database_url=url)


@pytest.fixture
def stage(backend: str, request: pytest.FixtureRequest) -> Stage:
    """The program on each database."""
    found = request.getfixturevalue(f"{backend}_stage")
    assert isinstance(found, Stage)
    return found


def send(service: Service, request: bytes) -> Answer:
    """Send bytes over TLS and read what comes back."""
    with service.connect() as connection:
        connection.sendall(request)
        answer = http.client.HTTPResponse(connection, method=request.split()[0].decode())
        answer.begin()
        return Answer(answer.status, dict(answer.headers), answer.read())


@pytest.mark.parametrize(
    ("case", "version"),
    [
        pytest.param(case, version, id=f"{case.name} ({version})")
        for case in CASES
        for version in case.versions
    ],
)
@pytest.mark.slow
def test_a_request_is_answered_as_its_client_expects(
    stage: Stage, case: Case, version: str
) -> None:
    values = set_scene(stage, version, case.given)

    for request, said in case.exchanges:
        answer = send(stage.service, write_request(request, values))

        expected = read_expected(fill(said, values).decode())
        different = compare(expected, answer)
        assert not different, "\n".join([request, *different, answer.body.decode()[:2000]])


def test_every_version_is_asked_for_in_many_ways() -> None:
    asked = [version for case in CASES for version in case.versions]

    assert len({case.name for case in CASES}) == len(CASES) >= 60
    assert min(asked.count(version) for version in VERSIONS) >= 30


@pytest.mark.parametrize(
    "said",
    [
        '201\n\n{"id": 1}',
        '200\n\n{"id": 2}',
        '200\n\n{"id": true}',
        '200\n\n{"id": null}',
        '200\n\n{"id": "(absent)"}',
        '200 exactly\n\n{"id": 1}',
        '200\n\n{"name": "/[a-z]/"}',
        '200\n\n{"photos": []}',
        '200\n\n{"photos": [{"id": 3}]}',
        '200\n\n{"price": null}',
        "200\nlink: next",
        "200\n\n<id>1</id>",
    ],
)
def test_what_is_different_is_noticed(said: str) -> None:
    body = b'{"id": 1, "name": "ab", "photos": [{"id": 2}]}'

    assert compare(read_expected(said), Answer(200, {"link": "before"}, body))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "request_line",
    [
        "GET /v{{v}}/Orders/{{NUMBER}}",
        "PUT /v{{v}}/Orders/{{NUMBER}}?address1=Mine",
        "GET /v{{v}}/Orders/{{NUMBER}}/SubmissionStatus",
        "POST /v{{v}}/Orders/{{NUMBER}}/Status",
        "GET /v{{v}}/Orders/{{NUMBER}}/Photos",
        "GET /v{{v}}/Orders/{{NUMBER}}/Photos/1",
        "POST /v{{v}}/Orders/{{NUMBER}}/Photos",
        "POST /v{{v}}/Orders/{{NUMBER}}/Photos/Batch",
        "DELETE /v{{v}}/Orders/{{NUMBER}}/Photos/1",
        "GET /v{{v}}/Orders/{{NUMBER}}/Issues",
        "GET /v{{v}}/Orders/{{NUMBER}}/Issues/1",
        "POST /v{{v}}/Orders/{{NUMBER}}/Issues",
        "GET /v{{v}}/Orders/{{NUMBER}}/Logs",
        "POST /v{{v}}/Orders/{{NUMBER}}/Cancel",
    ],
)
@pytest.mark.slow
def test_somebody_elses_order_is_byte_for_byte_one_that_does_not_exist(
    stage: Stage, version: str, request_line: str
) -> None:
    values = set_scene(stage, version, ("theirs",))
    text = f"{request_line} HTTP/1.1\n{{{{credentials}}}}\nContent-Length: 0"

    answers = [
        send(stage.service, write_request(text, {**values, "NUMBER": number}))
        for number in (values["theirs"], b"999999999")
    ]

    assert [answer.status for answer in answers] == [404, 404]
    assert answers[0].body == answers[1].body
