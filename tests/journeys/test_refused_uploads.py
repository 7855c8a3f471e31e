"""A refusal reaches the client that is still sending, whatever program it is."""

import http.client
import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.running import HOST, Merchant, Service, running
from tests.scale import IS_FULL

pytestmark = pytest.mark.slow

TIMES = 20 if IS_FULL else 3
SIZE = 50_000_000
PHOTOS = "/v2.6/Orders/1/Photos"

FETCH = """
const [url, file, times, ...headers] = process.argv.slice(1);
const body = require("fs").readFileSync(file);
(async () => {
  for (let i = 0; i < times; i++) {
    const form = new FormData();
    form.append("file", new Blob([body]), "a.jpg");
    const sent = [await fetch(url, { method: "POST", body, headers: JSON.parse(headers[0]) }),
                  await fetch(url, { method: "POST", body: form, headers: JSON.parse(headers[1]) })];
    for (const answer of sent) console.log(answer.status, (await answer.json()).errorMessage);
  }
})();
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running(tmp_path_factory.mktemp("refused") / "data") as service:
        yield service


@pytest.fixture(scope="module")
def merchant(service: Service) -> Merchant:
    return service.add_merchant()


@pytest.fixture(scope="module")
def stranger(merchant: Merchant) -> Merchant:
    """Somebody with a wrong key."""
    return Merchant(merchant.id, "pw_sandbox_wrong")


@pytest.fixture(scope="module")
def upload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("upload") / "large.jpg"
    path.write_bytes(bytes(SIZE))
    return path


def test_pythons_own_client_reads_the_refusal(service: Service, stranger: Merchant) -> None:
    with service.client(stranger) as client:
        answers = [client.send("POST", PHOTOS, bytes(SIZE)) for _ in range(TIMES)]

    assert {answer.status for answer in answers} == {401}
    assert all("X-Service-REST-API-Key" in answer.error for answer in answers)


def test_urllib_reads_the_refusal(service: Service, stranger: Merchant) -> None:
    url = f"https://{HOST}:{service.port}{PHOTOS}"
    for _ in range(TIMES):
        request = urllib.request.Request(url, bytes(SIZE), stranger.headers)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, context=service.tls, timeout=60)
        assert refused.value.code == 401
        assert json.load(refused.value)["errorMessage"]


def test_requests_reads_the_refusal(service: Service, stranger: Merchant, upload: Path) -> None:
    requests = pytest.importorskip("requests")
    url = f"https://{HOST}:{service.port}{PHOTOS}"
    for _ in range(TIMES):
        with upload.open("rb") as file:
            answer = requests.post(
                url,
                files={"file": file},
                headers=stranger.headers,
                verify=str(service.data / "tls" / "ca.pem"),
                timeout=60,
            )
        assert answer.status_code == 401
        assert answer.json()["errorMessage"]


@pytest.mark.parametrize("options", [(), ("-H", "Expect:"), ("-H", "Transfer-Encoding: chunked")])
def test_curl_reads_the_refusal(
    service: Service, stranger: Merchant, upload: Path, options: tuple[str, ...]
) -> None:
    curl = find("curl")
    headers = [f"-H{name}: {value}" for name, value in stranger.headers.items()]
    url = f"https://{HOST}:{service.port}{PHOTOS}"
    trust = ["--cacert", str(service.data / "tls" / "ca.pem")]
    for _ in range(TIMES):
        said = run(
            curl,
            "-sS",
            "-w",
            "%{http_code}",
            *trust,
            *headers,
            *options,
            "-F",
            f"file=@{upload}",
            url,
        )
        assert said.endswith("401")
        assert json.loads(said.removesuffix("401"))["errorMessage"]


def test_nodes_fetch_reads_the_refusal(service: Service, stranger: Merchant, upload: Path) -> None:
    as_json = {**stranger.headers, "Content-Type": "application/json"}
    sent = [json.dumps(headers) for headers in (as_json, dict(stranger.headers))]
    url = f"https://{HOST}:{service.port}{PHOTOS}"

    said = run(
        find("node"),
        *("-e", FETCH, url, str(upload), str(TIMES), *sent),
        NODE_EXTRA_CA_CERTS=str(service.data / "tls" / "ca.pem"),
    )

    lines = said.splitlines()
    assert len(lines) == 2 * TIMES
    assert all(line.startswith("401 The headers X-Service-") for line in lines)


@pytest.mark.parametrize(
    ("method", "path", "content_type", "status"),
    [
        ("POST", "/v3.0/ordners", "application/json", 404),
        ("POST", "/v4.0/orders", "application/json", 404),
        ("DELETE", "/v3.0/orders", "application/json", 405),
        ("POST", "/v3.0/orders", "application/json", 413),
        ("POST", "/v3.0/orders", "image/jpeg", 415),
        ("POST", "/sign-in", "application/x-www-form-urlencoded", 413),
    ],
)
@pytest.mark.parametrize("size", [1_000_001, 101_000_000])
def test_so_does_every_other_refusal(
    service: Service,
    merchant: Merchant,
    size: int,
    method: str,
    path: str,
    content_type: str,
    status: int,
) -> None:
    headers = {"Content-Type": content_type, **merchant.headers}
    for body in (bytes(size), in_chunks(size)):
        connection = http.client.HTTPSConnection(HOST, service.port, context=service.tls)
        connection.request(method, path, body, headers, encode_chunked=not isinstance(body, bytes))
        answer = connection.getresponse()
        assert answer.status == status
        assert answer.headers["X-Request-Id"]
        connection.close()


def test_broken_chunks_are_refused_with_a_body(service: Service, merchant: Merchant) -> None:
    lines = [f"{name}: {value}" for name, value in merchant.headers.items()]
    head = ["POST /v3.0/orders HTTP/1.1", f"Host: {HOST}", *lines, "Transfer-Encoding: chunked"]
    with service.connect() as connection:
        connection.sendall("\r\n".join([*head, "", "5\r\nhello\r\nzz\r\n"]).encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()

        assert answer.status == 400
        assert answer.headers["X-Request-Id"]
        assert "chunks" in json.load(answer)["errorMessage"]


def in_chunks(size: int) -> Iterator[bytes]:
    yield from (bytes(1_000_000) for _ in range(size // 1_000_000))
    yield bytes(size % 1_000_000 or 1)


def run(*command: str, **environment: str) -> str:
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def find(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    return path
