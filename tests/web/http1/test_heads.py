"""A head is read to the letter; what is not certain is refused, with a sentence that says why."""

import pytest

from printworks.web.http1.heads import (
    LARGEST_HEAD,
    MOST_HEADERS,
    MalformedHead,
    find_end,
    guess_scope,
    make_scope,
    read_head,
)

HOST = b"Host: print.example\r\n"


def head(*lines: bytes, first: bytes = b"GET /v3.0/orders HTTP/1.1", host: bytes = HOST) -> bytes:
    return first + b"\r\n" + host + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def refusal_of(raw: bytes) -> tuple[int, str]:
    with pytest.raises(MalformedHead) as refused:
        make_scope(read_head(raw))
    return refused.value.refusal


def test_a_good_head_is_read_as_it_was_sent() -> None:
    raw = head(b"X-Long-Name: a b\tc ", b"Empty:", b"Text: \xe4", first=b"PUT /a?b=%20 HTTP/1.1")

    found = read_head(raw)

    assert (found.method, found.target) == (b"PUT", b"/a?b=%20")
    assert found.fields.headers == [
        (b"host", b"print.example"),
        (b"x-long-name", b"a b\tc"),
        (b"empty", b""),
        (b"text", b"\xe4"),
    ]
    assert found.fields.length == 0
    assert found.fields.keeps_alive


def test_the_same_headers_again_are_not_read_again() -> None:
    first = read_head(head(b"Accept: */*"))

    assert read_head(head(b"Accept: */*"), first.fields).fields is first.fields
    assert read_head(head(b"Accept: a/b"), first.fields).fields is not first.fields
    # In the older version they mean something else.
    old = read_head(head(b"Accept: */*", first=b"GET / HTTP/1.0"), first.fields)
    assert not old.fields.keeps_alive


@pytest.mark.parametrize(
    ("lines", "length"),
    [
        ([b"Content-Length: 12"], 12),
        ([b"Content-Length: 12", b"Content-Length: 12"], 12),
        ([b"Content-Length: 000"], 0),
        ([b"Transfer-Encoding: chunked"], None),
        ([b"transfer-encoding: Chunked"], None),
    ],
)
def test_a_body_is_announced_in_one_of_two_ways(lines: list[bytes], length: int | None) -> None:
    assert read_head(head(*lines)).fields.length == length


@pytest.mark.parametrize(
    "lines",
    [
        [b"Content-Length: " + b"1" * 4301],
        [b"Content-Length: " + b"0" * 4301],
        [b"Content-Length: 9999999999999999999"],
        [b"Content-Length: +1"],
        [b"Content-Length: -1"],
        [b"Content-Length: 1, 1"],
        [b"Content-Length: 0x1"],
        [b"Content-Length: 1 1"],
        [b"Content-Length:"],
        [b"Content-Length: \xb2"],
        [b"Content-Length: 1", b"Content-Length: 2"],
        [b"Content-Length: 1", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: gzip"],
        [b"Transfer-Encoding: identity"],
        [b"Transfer-Encoding:"],
        [b"Transfer-Encoding: gzip, chunked"],
        [b"Transfer-Encoding: chunked, gzip"],
        [b"Transfer-Encoding: chunked, chunked"],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"],
        [b"Transfer-Encoding: xchunked"],
        [b"Transfer-Encoding: chunked;q=1"],
    ],
)
def test_a_body_whose_end_is_not_certain_is_refused(lines: list[bytes]) -> None:
    status, message = refusal_of(head(*lines))

    assert status == 400
    assert "Content-Length" in message or "Transfer-Encoding" in message


def test_version_1_0_has_no_chunks() -> None:
    raw = head(b"Transfer-Encoding: chunked", first=b"POST / HTTP/1.0")

    assert refusal_of(raw)[0] == 400


@pytest.mark.parametrize(
    ("host", "message"),
    [
        (b"", "The request has no Host header; HTTP/1.1 requires one."),
        (HOST + HOST, "The request has more than one Host header; send one."),
        (b"Host: a b\r\n", "The Host header must be a name or an address"),
        (b"Host: a/b\r\n", "The Host header must be a name or an address"),
        (b"Host: u@a\r\n", "The Host header must be a name or an address"),
        (b"Host: a:b\r\n", "The Host header must be a name or an address"),
        (b"Host: a, b:1\r\n", "The Host header must be a name or an address"),
    ],
)
def test_a_request_names_one_host(host: bytes, message: str) -> None:
    assert refusal_of(head(host=host))[1].startswith(message)


@pytest.mark.parametrize("host", [b"a:443", b"[::1]:443", b"127.0.0.1", b"", b"x_y.example"])
def test_every_way_to_name_a_host_is_good(host: bytes) -> None:
    read_head(head(host=b"Host: " + host + b"\r\n"))


def test_version_1_0_may_leave_the_host_out() -> None:
    found = read_head(head(b"Content-Length: 5", first=b"POST / HTTP/1.0", host=b""))

    assert found.fields.length == 5


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"no colon", "A line of the headers is no header"),
        (b"Two Words: 1", "A line of the headers is no header"),
        (b"Space : 1", "A line of the headers is no header"),
        (b": 1", "A line of the headers is no header"),
        (b"N\xc3\xa4me: 1", "A line of the headers is no header"),
        (b"N\x00: 1", "A line of the headers is no header"),
        (b"X: a\x00b", "The header X has a control character in it."),
        (b"X: a\rb", "The header X has a control character in it."),
        (b"X: \x7f", "The header X has a control character in it."),
        (b"X: a\r\n b", "A header must be on one line"),
        (b" X: a", "A header must be on one line"),
        (b"X: a\nY: b", "Each line of a request must end with CR and LF."),
    ],
)
def test_a_header_is_a_name_a_colon_and_a_value(line: bytes, message: str) -> None:
    status, said = refusal_of(head(b"Good: 1", line, b"Also-Good: 2"))

    assert status == 400
    assert said.startswith(message)


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (b"GET / HTTP/2.0", "This version of HTTP is not spoken here"),
        (b"GET / HTTP/1.2", "This version of HTTP is not spoken here"),
        (b"PRI * HTTP/2.0", "This version of HTTP is not spoken here"),
        (b"GET /", "The first line of a request"),
        (b"GET / http/1.1", "The first line of a request"),
        (b"GET  / HTTP/1.1", "The first line of a request"),
        (b"GET / HTTP/1.1 ", "The first line of a request"),
        (b"GET\t/\tHTTP/1.1", "The first line of a request"),
        (b"\x16\x03\x01", "The first line of a request"),
        (b"G(T / HTTP/1.1", "The method of the request"),
        (b" / HTTP/1.1", "The method of the request"),
        (b"GET /\x00 HTTP/1.1", "The address of the request has characters"),
        (b"GET /\xff HTTP/1.1", "The address of the request is not valid UTF-8."),
        (b"GET v3.0/orders HTTP/1.1", "The address of the request must be a path"),
        (b"GET * HTTP/1.1", "The address of the request must be a path"),
        (b"CONNECT a:443 HTTP/1.1", "The address of the request must be a path"),
        (b"GET http://[::1/a HTTP/1.1", "The address of the request must be a path"),
        (b"GET http:///a HTTP/1.1", "The address of the request must be a path"),
        (b"GET ftp://a/b HTTP/1.1", "The address of the request must be a path"),
    ],
)
def test_the_first_line_is_a_method_an_address_and_a_version(first: bytes, message: str) -> None:
    status, said = refusal_of(head(first=first))

    assert status == 400
    assert said.startswith(message)


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        (b"/a/B-c_d.e~", "/a/B-c_d.e~", b""),
        (b"/%C3%A4/\xc3\xa4", "/ä/ä", b""),
        (b"/%zz%", "/%zz%", b""),
        (b"/%ff", "/\ufffd", b""),
        (b"/a?b?c=%ff", "/a", b"b?c=%ff"),
        (b"/a?b#c", "/a", b"b"),
        (b"https://print.example/a?b", "/a", b"b"),
        (b"HTTP://[::1]:80?b", "/", b"b"),
    ],
)
def test_an_address_is_a_path_with_a_query(target: bytes, path: str, query: bytes) -> None:
    scope = make_scope(read_head(head(first=b"GET " + target + b" HTTP/1.1")))

    assert (scope["path"], scope["query_string"]) == (path, query)


def test_options_may_ask_for_no_path_at_all() -> None:
    assert make_scope(read_head(head(first=b"OPTIONS * HTTP/1.1")))["path"] == "*"


def test_more_headers_than_anybody_needs_are_too_many() -> None:
    lines = [b"X-%d: 1" % number for number in range(MOST_HEADERS)]

    read_head(head(*lines[1:]))
    assert refusal_of(head(*lines))[0] == 431


@pytest.mark.parametrize(
    ("received", "status"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"a" * LARGEST_HEAD, 431),
        (b"GET / HTTP/1.1\r\nX: " + b"a" * LARGEST_HEAD + b"\r\n\r\n", 431),
        (b"GET /" + b"a" * LARGEST_HEAD, 414),
        (b"GET / HTTP/1.1\nHost: a\n\n", 400),
        (b"GET / HTTP/1.1\nHost: a\n\r\n", 400),
    ],
)
def test_an_end_that_will_never_be_good_is_not_waited_for(received: bytes, status: int) -> None:
    with pytest.raises(MalformedHead) as refused:
        find_end(received)

    assert refused.value.refusal.status == status


def test_the_rest_of_a_head_is_waited_for() -> None:
    raw = head(b"X: 1")

    assert {find_end(raw[:size]) for size in range(len(raw))} == {-1}
    assert find_end(raw + b"more") == len(raw)


@pytest.mark.parametrize(
    ("connection", "version", "keeps_alive"),
    [
        (b"close", b"1.1", False),
        (b"Keep-Alive, Close", b"1.1", False),
        (b"closed", b"1.1", True),
        (b"close", b"1.0", False),
        (b"Keep-Alive", b"1.0", True),
    ],
)
def test_a_client_says_whether_more_will_follow(
    connection: bytes, version: bytes, *, keeps_alive: bool
) -> None:
    raw = head(b"Connection: " + connection, first=b"GET / HTTP/" + version)

    assert read_head(raw).fields.keeps_alive is keeps_alive


@pytest.mark.parametrize(
    ("received", "path"),
    [
        (b"G(T /v2.6/orders?a HTTP/1.1\r\n\r\n", "/v2.6/orders"),
        (b"GET https://a/v2.3/x HTTP/9\r\n\r\n", "/v2.3/x"),
        (b"nothing at all", ""),
        (b"", ""),
    ],
)
def test_a_refusal_is_written_for_the_version_that_was_meant(received: bytes, path: str) -> None:
    assert guess_scope(received)["path"] == path


def test_a_refusal_has_the_clients_request_id_and_type() -> None:
    raw = head(b"X-Request-Id: mine-1", b"Accept: text/xml", b"bad")

    assert guess_scope(raw)["headers"] == [(b"x-request-id", b"mine-1"), (b"accept", b"text/xml")]
