"""A body in chunks is put together from pieces of any size, or it is broken."""

import pytest

from printworks.web.http1.bodies import LONGEST_LINE, BrokenChunks, ChunkedBody, SizedBody

GOOD = b"4\r\nwiki\r\n5;name=value\r\npedia\r\nA \r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\n"


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(GOOD)])
def test_pieces_of_any_size_are_put_together(size: int) -> None:
    body, received, content = ChunkedBody(), bytearray(), b""
    for start in range(0, len(GOOD), size):
        received += GOOD[start : start + size]
        content += body.take(received)

    assert content == b"wikipedia0123456789"
    assert body.is_over
    assert not received


def test_what_follows_a_body_is_left_alone() -> None:
    chunked, sized = ChunkedBody(), SizedBody(3)
    after_chunks, after_size = bytearray(GOOD + b"GET /"), bytearray(b"abcGET /")

    chunked.take(after_chunks)
    sized.take(after_size)

    assert after_chunks == after_size == bytearray(b"GET /")


@pytest.mark.parametrize(
    "chunks",
    [
        b"zz\r\n",
        b"\r\n",
        b"-1\r\n",
        b"0x1\r\n",
        b"+1\r\n",
        b" 1\r\n",
        b"1_0\r\n",
        b"f" * 16 + b"\r\n",
        b"2\n{}\n",
        b"2;\x00\r\n{}\r\n",
        b"2;a\nb\r\n{}\r\n",
        b"2\r\n{}x",
        b"2\r\n{}\n",
        b"2\r\n{}\rx",
        b"2 " + b" " * LONGEST_LINE,
        b"0\r\nno trailer\r\n\r\n",
        b"0\r\nBad Name: 1\r\n\r\n",
        b"0\r\n" + b"X: 1\r\n" * 5000,
        b"0\r\n\n",
    ],
)
def test_chunks_that_can_be_read_in_two_ways_are_broken(chunks: bytes) -> None:
    with pytest.raises(BrokenChunks):
        ChunkedBody().take(bytearray(chunks))
