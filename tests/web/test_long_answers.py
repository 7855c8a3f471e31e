"""Long lists: each merchant has its share of the process that writes them."""

import asyncio
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from printworks.api.messages import LongBody
from printworks.errors import ServiceUnavailable
from printworks.settings import Settings
from printworks.web.long_answers import LISTS_AT_ONCE, LISTS_WAITING, LongAnswers
from printworks.web.pool import PoolFull


class Scribe(LongAnswers):
    """Writes pieces here, and notes for whom."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Settings.load(folder, {}))
        self.written: list[str] = []

    async def _write_piece(self, piece: Any) -> bytes:
        self.written.append(piece)
        await asyncio.sleep(0)
        return str(piece).encode()


def a_list(merchant_id: int, *pieces: str) -> LongBody:
    return LongBody(merchant_id, b"[", iter(pieces), b",", b"]")


async def read(scribe: LongAnswers, body: LongBody) -> bytes:
    return b"".join([piece async for piece in scribe._write(body)])


def test_pieces_are_joined_and_the_next_is_not_written_before_it_is_wanted(tmp_path: Path) -> None:
    async def story() -> None:
        scribe = Scribe(tmp_path)
        assert await read(scribe, a_list(1, "a", "b", "c")) == b"[a,b,c]"

        stream = scribe._write(a_list(1, "d", "e"))
        assert await anext(stream) == b"[d"
        assert scribe.written[-1] == "d"

    asyncio.run(story())


def test_lists_of_one_merchant_wait_for_each_other_and_not_for_others(tmp_path: Path) -> None:
    async def story() -> None:
        scribe = Scribe(tmp_path)
        held = [scribe._write(a_list(1, "greedy", "greedy")) for _ in range(LISTS_AT_ONCE)]
        for stream in held:
            await anext(stream)
        waiting = asyncio.ensure_future(read(scribe, a_list(1, "late")))

        assert await read(scribe, a_list(2, "other")) == b"[other]"
        assert not waiting.done()

        for stream in held:
            [_ async for _ in stream]
        assert await waiting == b"[late]"
        assert scribe._asking == {}
        assert scribe._turns == {}

    asyncio.run(story())


def test_too_many_lists_of_one_merchant_are_refused(tmp_path: Path) -> None:
    async def story() -> None:
        scribe = Scribe(tmp_path)
        most = LISTS_AT_ONCE + LISTS_WAITING
        held = [scribe._write(a_list(1, "greedy")) for _ in range(most)]
        begun = [asyncio.ensure_future(anext(stream)) for stream in held]
        await asyncio.wait(begun[:LISTS_AT_ONCE])

        with pytest.raises(PoolFull):
            await read(scribe, a_list(1, "one too many"))
        assert await read(scribe, a_list(2, "other")) == b"[other]"
        for each in begun:
            each.cancel()

    asyncio.run(story())


def test_a_list_whose_process_dies_again_and_again_is_refused(tmp_path: Path) -> None:
    class Dying(LongAnswers):
        tries = 0

        async def _run(self, *_: object) -> bytes | None:
            self.tries += 1
            return None

    async def story() -> None:
        scribe = Dying(Settings.load(tmp_path, {}))
        with pytest.raises(ServiceUnavailable, match="Try again"):
            await read(scribe, a_list(1, "a"))
        assert scribe.tries == 2

    asyncio.run(story())


def test_two_who_lose_a_process_start_one_other(tmp_path: Path) -> None:
    class Pool:
        """Runs nothing: whoever waits for it learns that it died."""

        def __init__(self) -> None:
            self.waiting: list[Future[bytes]] = []

        def submit(self, *_: object) -> Future[bytes]:
            self.waiting.append(Future())
            return self.waiting[-1]

    async def story() -> None:
        scribe: Any = LongAnswers(Settings.load(tmp_path, {}))
        scribe._pool = dead = Pool()
        both = [asyncio.ensure_future(scribe._run(print, "a")) for _ in range(2)]
        await asyncio.sleep(0)
        dead.waiting[0].set_exception(BrokenProcessPool())
        assert await both[0] is None
        scribe._pool = other = Pool()
        dead.waiting[1].set_exception(BrokenProcessPool())

        assert await both[1] is None
        assert scribe._pool is other

    asyncio.run(story())


def test_a_process_that_could_not_start_is_started_again_by_the_next(tmp_path: Path) -> None:
    scribe = Scribe(tmp_path)
    opened: list[Future[None]] = []

    def open_pool() -> Any:
        if scribe._pool is None:
            scribe._pool = ProcessPoolExecutor()
            scribe._started = Future()
            opened.append(scribe._started)
        return scribe._pool

    scribe._open = open_pool  # type: ignore[method-assign]
    assert not scribe.is_ready()
    opened[0].set_exception(OSError("no database"))
    assert not scribe.is_ready()
    assert not scribe.is_ready()
    opened[1].set_result(None)
    assert scribe.is_ready()


def test_a_client_that_does_not_read_is_left(tmp_path: Path) -> None:
    async def story() -> None:
        settings = Settings.load(
            tmp_path, {"PRINTWORKS_REQUEST_TIMEOUT": "1s", "PRINTWORKS_BODY_TIMEOUT": "1s"}
        )
        scribe = LongAnswers(settings)

        async def pieces() -> Any:
            yield b"["

        async def never(_message: dict[str, Any]) -> None:
            await asyncio.Event().wait()

        with pytest.raises(TimeoutError):
            await scribe.send(pieces(), never, "an id")

    asyncio.run(story())
