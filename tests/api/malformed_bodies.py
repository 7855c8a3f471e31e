"""Bodies that no client should send, each with its content type: every one must be refused."""

import json
from collections.abc import Iterator
from typing import Any, Final

JSON: Final = "application/json"
FORM: Final = "application/x-www-form-urlencoded"
PARTS: Final = "multipart/form-data; boundary=XX"

GOOD: Final = {
    "recipientName": "Mary Fox",
    "countryCode": "GB",
    "preferredShippingMethod": "Standard",
}

GOOD_IMAGE: Final = {
    "sku": "GLOBAL-PHO-4X6-PRO",
    "url": "https://shop.example/sunset.jpg",
    "copies": 1,
}


def malformed_bodies() -> Iterator[tuple[str, str, bytes]]:
    """Give a name, a content type and a body, one after the other."""
    for number, text in enumerate(BROKEN_JSON):
        yield f"broken json {number}", JSON, text
    for number, text in enumerate(NOT_AN_OBJECT):
        yield f"not an object {number}", JSON, text
    for member, values in WRONG_FOR.items():
        for value in values:
            body = json.dumps({**GOOD, member: value}).encode()
            yield f"{member}={str(value)[:30]!r}", JSON, body
    yield from WRONG_CHARSETS + WRONG_TYPES + BROKEN_FORMS + BROKEN_PARTS


def malformed_images() -> Iterator[tuple[str, dict[str, Any]]]:
    """Give a name and an image of which one member is wrong, one after the other."""
    for member, values in WRONG_FOR_IMAGE.items():
        for value in values:
            yield f"{member}={str(value)[:30]!r}", {**GOOD_IMAGE, member: value}


BROKEN_JSON: Final = [
    b"{", b"}", b"[", b"]", b"{]", b"[}", b"{{}}", b"{}{}", b"{} {}", b"{},", b"{,}", b'{"a"}',
    b'{"a":}', b'{"a":1,}', b'{"a" 1}', b'{"a":1 "b":2}', b"{a:1}", b"{'a':1}", b'{"a":undefined}',
    b'{"a":NaN}', b'{"a":Infinity}', b'{"a":-Infinity}', b'{"a":1e999}', b'{"a":-1e999}',
    b'{"a":01}', b'{"a":+1}', b'{"a":.5}', b'{"a":1.}', b'{"a":0x10}', b'{"a":1_000}', b'{"a":--1}',
    b'{"a":"', b'{"a":"\\"}', b'{"a":"\\x41"}', b'{"a":"\\u12"}', b'{"a":"\\uZZZZ"}',
    b'{"a":"\\ud800"}', b'{"a":"\\udc00"}', b'{"a":"\\ud800\\ud800"}', b'{"a":"\xff"}',
    b'{"a":"\xc3"}', b'{"a":"\xed\xa0\x80"}', b'{"a":"\xf4\x90\x80\x80"}', b'{"a":"\xc0\x80"}',
    b'{"a":"line\nbreak"}', b'{"a":"tab\there"}', b'{"a":"\x00"}', b'{"\x00":1}', b'{"a":1}\x00',
    b"\x00", b"\x00{}", b"\xff\xfe{}", b"\xef\xbb\xbf", b"tru", b"nul", b"True", b"None", b"nan",
    b"// comment\n{}", b"/* comment */{}", b'{"a":1}//', b"<xml/>", b"--", b"%7B%7D", b"\\", b'"',
    b'{"a":' + b"9" * 5000 + b"}",
    b"[" * 100_000, b'{"a":' * 100_000, b"[" * 500 + b"]" * 500,
    b'{"a":' * 400 + b"1" + b"}" * 400, b'{"recipientName":' + b"[" * 40 + b"]" * 40 + b"}",
]  # fmt: skip

NOT_AN_OBJECT: Final = [
    b"null", b"true", b"false", b"0", b"-1", b"1.5", b'"text"', b'""', b"[]", b"[1]", b"[{}]",
    b'[{"recipientName":"Mary Fox","countryCode":"GB","preferredShippingMethod":"Standard"}]',
    b"[null]", b'["a","b"]', b"1e5", b"12345678901234567890",
]  # fmt: skip

NOT_TEXT: Final[list[Any]] = [[], {}, [1], {"a": 1}, True]
NOT_A_LINE: Final = [*NOT_TEXT, "x" * 300, "a\x00b", "\x1b[31m", "a\x7fb"]
NOT_AN_AMOUNT: Final = [
    *NOT_TEXT, "x", "1,5", "1e400", "NaN", "Infinity", "-1", -1, -0.6, 10**13, 1e300, "0x10",
    "1_000", "\u0663", "1 2", "9" * 40,
]  # fmt: skip
NOT_AN_ADDRESS: Final = [
    *NOT_TEXT, 1, "x", "/slip.png", "//host/slip.png", "http://", "https:///x", "ftp://host/x",
    "file:///etc/passwd", "javascript:alert(1)", "http://[::1", "http://a b/", "gopher://h/",
    "data:image/png;base64,AA", "http:host", "https://" + "a" * 3000, "http://host:port/",
]  # fmt: skip
WRONG_FOR: Final[dict[str, list[Any]]] = {
    "recipientName": NOT_A_LINE,
    "address1": NOT_A_LINE,
    "merchantOrderId": NOT_A_LINE,
    "telephone": NOT_A_LINE,
    "email": NOT_A_LINE,
    "invoiceAmountNet": NOT_AN_AMOUNT,
    "invoiceTax": NOT_AN_AMOUNT,
    "invoiceCurrency": [*NOT_TEXT, 1, "G", "POUND", "£££", "12A", "G P"],
    "countryCode": [
        *NOT_TEXT, 1, 1.5, "G", "GBR", "United Kingdom", "Q1", "\x00\x00", "é", "\uff27\uff22",
    ],
    "preferredShippingMethod": [
        *NOT_TEXT, 0, "Fast", "Bud get", "Budget,Standard", "\x00", "CHEAPEST",
    ],
    "payment": [*NOT_TEXT, 1, "Cash", "Invoice", "\x00"],
    "packingSlipUrl": NOT_AN_ADDRESS,
}  # fmt: skip

WRONG_FOR_IMAGE: Final[dict[str, list[Any]]] = {
    "sku": [*NOT_A_LINE, None, "", " ", 4, "4x6", "NO-SUCH-SKU", "\ud83d\uddbc"],
    "url": [*NOT_AN_ADDRESS, None, "", " ", "https://host/\x00", "https://host/\x1b[31m"],
    "copies": [*NOT_AN_AMOUNT, None, "", " ", 1.5, "0.1", 100_001, "1e30", 1e18],
    "sizing": [*NOT_TEXT, 0, "Stretch", "Crop,ShrinkToFit", "\x00"],
    # An order that the merchant pays for takes none at all.
    "priceToUser": [*NOT_AN_AMOUNT, 0, 1, "1"],
    "md5Hash": [*NOT_TEXT, 1, "x", "0" * 31, "0" * 33, "g" * 32, "\uff10" * 32, "\x00" * 32],
    "attributes": [
        True, 1, 1.5, "matte", "{}", [1], ["matte"], [{"finish": "matte"}], {"finish": []},
        {"finish": {}}, {"finish": True}, {"finish": 1}, {"finish": "gold"}, {"finish": "\x00"},
        {"finish": "x" * 300}, {"\x00": "matte"}, {"x" * 200: "matte"}, {"": "matte"},
        {"colour": "red"}, {"finish": "matte", "__class__": "x"}, {str(n): "x" for n in range(60)},
    ],
}  # fmt: skip

_GOOD_JSON: Final = json.dumps(GOOD).encode()

WRONG_CHARSETS: Final = [
    ("unknown charset", f"{JSON}; charset=klingon", _GOOD_JSON),
    ("charset that is no text", f"{JSON}; charset=zlib", _GOOD_JSON),
    ("charset that is code", f"{JSON}; charset=idna", _GOOD_JSON),
    ("charset rot13", f"{JSON}; charset=rot13", _GOOD_JSON),
    ("charset python knows", f"{JSON}; charset=mac_roman", _GOOD_JSON),
    ("charset with a zero", f"{JSON}; charset=utf\x008", _GOOD_JSON),
    ("very long charset", f"{JSON}; charset={'u' * 5000}", _GOOD_JSON),
    ("utf-16 that is not", f"{JSON}; charset=utf-16", _GOOD_JSON + b"x"),
    ("ascii that is not", f"{JSON}; charset=us-ascii", '{"recipientName":"Zoë"}'.encode()),
    ("utf-7", f"{JSON}; charset=utf-7", _GOOD_JSON),
    ("form not in its charset", f"{FORM}; charset=us-ascii", "recipientName=Zoë".encode()),
]

WRONG_TYPES: Final = [
    (content_type, content_type, _GOOD_JSON)
    for content_type in (
        "text/plain", "application/xml", "text/xml", "text/html", "application/octet-stream",
        "image/png", "application/jsonp", "application/json2", "multipart/mixed; boundary=XX",
        "application/pdf", "x/y", "application/x-msgpack", "application/yaml", "nonsense", "/", ";",
        "application/", "text/plain; charset=utf-8",
    )
]  # fmt: skip

_REQUIRED_IN_FORM: Final = b"recipientName=Mary&countryCode=GB&preferredShippingMethod=Standard"

BROKEN_FORMS: Final = [
    ("form with bad escapes", FORM, b"recipientName=%ff%fe&countryCode=GB"),
    ("form with a lone surrogate", FORM, b"recipientName=%ed%a0%80"),
    ("form of raw bytes", FORM, b"\xff\xfe\xfd"),
    ("form with too many fields", FORM, b"&".join(b"a=1" for _ in range(1500))),
    ("form with a zero byte", FORM, b"recipientName=a%00b&countryCode=GB&preferredShippingMethod=Budget"),
    ("json sent as a form", FORM, _GOOD_JSON),
    ("form sent as json", JSON, _REQUIRED_IN_FORM),
    ("form with nothing but names", FORM, b"recipientName&countryCode"),
    ("form with an unknown country", FORM, _REQUIRED_IN_FORM.replace(b"GB", b"QQ")),
    ("form with a nested name", FORM, b"recipientName[first]=Mary&countryCode=GB&preferredShippingMethod=Budget"),
    ("form of ampersands", FORM, b"&&&&==&=&"),
]  # fmt: skip


def _part(name: bytes, value: bytes) -> bytes:
    return b'--XX\r\nContent-Disposition: form-data; name="' + name + b'"\r\n\r\n' + value + b"\r\n"


BROKEN_PARTS: Final = [
    ("parts without a boundary", "multipart/form-data", _part(b"a", b"1") + b"--XX--"),
    ("parts with an empty boundary", "multipart/form-data; boundary=", _part(b"a", b"1")),
    ("parts with another boundary", "multipart/form-data; boundary=YY", _part(b"a", b"1") + b"--XX--"),
    ("parts that are not", PARTS, b"hello"),
    ("parts that are json", PARTS, _GOOD_JSON),
    ("part without a header", PARTS, b"--XX\r\n\r\nvalue\r\n--XX--\r\n"),
    ("part with a broken header", PARTS, b"--XX\r\nContent-Disposition\r\n\r\nx\r\n--XX--"),
    ("part with no name", PARTS, b"--XX\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XX--"),
    ("part cut short", PARTS, _part(b"recipientName", b"Mary")[:40]),
    ("part with bytes that are no text", PARTS, _part(b"recipientName", b"\xff\xfe") + b"--XX--"),
    ("parts without an end", PARTS, _part(b"recipientName", b"Mary")),
    ("very many parts", PARTS, b"".join(_part(b"a", b"1") for _ in range(1500)) + b"--XX--"),
    ("a part with a huge header", PARTS, b"--XX\r\nX: " + b"y" * 50_000 + b"\r\n\r\n1\r\n--XX--"),
    ("a very long boundary", f"multipart/form-data; boundary={'b' * 5000}", _part(b"a", b"1")),
    ("a boundary that is no ascii", "multipart/form-data; boundary=\xe9", _part(b"a", b"1")),
    ("a file where text belongs", PARTS,
     b'--XX\r\nContent-Disposition: form-data; name="recipientName"; filename="a.txt"\r\n\r\nMary\r\n'
     + _part(b"countryCode", b"GB") + _part(b"preferredShippingMethod", b"Budget") + b"--XX--\r\n"),
]  # fmt: skip
