"""Slow hosts of images do not wait in line before quick ones, nor before any other work."""

import asyncio
from functools import partial

import pytest

from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind, Policy
from printworks.rules.pools import POOL_SIZES, Pool
from printworks.store.queue.jobs import Claim, Job
from printworks.worker.slots import Slots
from printworks.worker.waiting import MOST_LANES, Waiting
from tests.factories import NOON, a_merchant
from tests.worker.hosts import Behaviour, answers, holds, wait_until
from tests.worker.queues import a_policy
from tests.worker.receivers import Receiver, listen
from tests.worker.shops import A_PICTURE, Shop
from tests.worker.test_hosts import play

BAD_ONES = 10
IMAGES = 12


def add_bad_merchants(shop: Shop, behave: Behaviour) -> list[int]:
    """Add merchants whose images are all on a slow host; return the images."""
    url = shop.host.at("/slow.jpg", behave, name="localhost")
    with shop.database.writing() as db:
        bad = [a_merchant(db, f"Bad {number}") for number in range(BAD_ONES)]
    orders = [shop.add_order(merchant) for merchant in bad]
    return [image for order in orders for image in shop.add_images(order, *[url] * IMAGES)]


def is_fetched(shop: Shop, image: int) -> bool:
    """Say whether an image has come."""
    return shop.image(image).status is ImageStatus.OK


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_images_and_callbacks_of_others_do_not_wait_for_them(shop: Shop) -> None:
    gate = shop.host.gate()
    quick = shop.host.at("/quick.jpg", holds(A_PICTURE))

    with Receiver() as receiver:
        listen(shop, receiver.at("/cb"))
        slow = add_bad_merchants(shop, gate.before(answers("404 Not Found")))
        with shop.working():
            gate.wait()
            for number in range(1, 4):
                (image,) = shop.add_images(shop.add_order(), quick)
                wait_until(partial(is_fetched, shop, image))
                wait_until(lambda number=number: len(receiver.heard) >= number)  # type: ignore[misc]
            # None of the slow ones has ended.
            assert {shop.image(image).status for image in slow} == {ImageStatus.NOT_YET_DOWNLOADED}
            gate.open()


def test_one_that_was_slow_waits_with_the_slow_ones_until_it_is_quick(shop: Shop) -> None:
    gate = shop.host.gate()
    url = shop.host.at("/a.jpg", gate.before(holds(A_PICTURE)))
    (first,) = shop.add_images(shop.add_order(), url)

    with shop.working():
        gate.wait()
        wait_until(lambda: shop.resources.image_hosts._slow)
        (second,) = shop.add_images(shop.add_order(), url)
        wait_until(lambda: shop.jobs(JobKind.FETCH_SLOW_IMAGE))
        gate.open()
        wait_until(lambda: is_fetched(shop, first) and is_fetched(shop, second))
    (third,) = shop.add_images(shop.add_order(), url)
    shop.drain()

    assert is_fetched(shop, third)
    moved = shop.job(JobKind.FETCH_SLOW_IMAGE)
    # Having to wait was not one of its attempts.
    assert (moved.args["image"], moved.attempts) == (second, 1)


def a_job(number: int, kind: str, merchant_id: int = 1) -> Job:
    """Make a job that is claimed."""
    return Job(Claim(number, 1, "w"), kind, merchant_id, {}, 1, NOON, None)


class TestSlots:
    POLICIES: dict[str, Policy] = {  # noqa: RUF012
        "fetch": a_policy(pool=Pool.DOWNLOADS),
        "render": a_policy(pool=Pool.RENDERING),
    }

    def make(self, waiting: Waiting | None = None) -> Slots:
        """Make the slots of a worker that has eight."""
        return Slots(self.POLICIES, waiting or Waiting(), of_worker=8)

    def test_each_pool_has_its_own(self) -> None:
        slots = self.make()

        slots.take([a_job(number, "fetch") for number in range(6)])

        rooms = slots.find_rooms()
        assert {pool: room[:2] for pool, room in rooms.items()} == {
            # A quarter is kept for merchants whose hosts have answered.
            Pool.DOWNLOADS: (2, 0),
            Pool.RENDERING: (2, 2),
        }
        slots.take([a_job(number, "render") for number in (10, 11)])
        assert slots.find_rooms().keys() == {Pool.DOWNLOADS}
        assert slots.leave(a_job(10, "render")) is Pool.RENDERING
        assert slots.find_rooms()[Pool.RENDERING].slots == 1
        assert slots.taken == 7

    def test_who_was_answered_quickly_may_take_those_that_are_kept(self) -> None:
        async def scene() -> None:
            waiting = Waiting()
            slots = self.make(waiting)
            job = a_job(1, "fetch")
            with waiting.of(job):
                pass
            assert job.lane in waiting.proven

            slots.take([a_job(number, "fetch") for number in range(8)])
            assert Pool.DOWNLOADS not in slots.find_rooms()
            slots.leave(a_job(0, "fetch"))
            assert slots.find_rooms()[Pool.DOWNLOADS][:2] == (1, 1)

        play(scene)

    def test_who_waits_for_long_leaves_its_slot_and_is_in_doubt(self) -> None:
        async def scene() -> None:

            waiting = Waiting()
            slots = self.make(waiting)
            jobs = [a_job(number, "fetch") for number in range(9)]
            with waiting.of(jobs[0]):
                pass

            async def wait(job: Job) -> None:
                with waiting.of(job):
                    await asyncio.sleep(3)

            slots.take(jobs[:6])
            tasks = [asyncio.create_task(wait(job)) for job in jobs[:6]]
            await asyncio.sleep(0.5)
            assert not slots.step_aside()
            await asyncio.sleep(1)
            assert slots.step_aside()
            assert not slots.step_aside()
            assert slots.find_rooms()[Pool.DOWNLOADS][:2] == (8, 6)
            assert jobs[0].lane not in waiting.proven
            await asyncio.gather(*tasks)
            for job in jobs[:6]:
                slots.leave(job)
            assert slots.taken == 0
            assert jobs[0].lane not in waiting.proven

        play(scene)

    def test_only_so_many_may_wait_aside(self) -> None:
        async def scene() -> None:

            waiting = Waiting()
            slots = self.make(waiting)
            most = POOL_SIZES[Pool.DOWNLOADS].count_aside(8)
            jobs = [a_job(number, "fetch") for number in range(2 * most)]

            async def wait(job: Job) -> None:
                with waiting.of(job):
                    await asyncio.sleep(2)

            slots.take(jobs[:most])
            tasks = [asyncio.create_task(wait(job)) for job in jobs[:most]]
            await asyncio.sleep(1.5)
            slots.step_aside()
            slots.take(jobs[most:])
            tasks += [asyncio.create_task(wait(job)) for job in jobs[most:]]
            await asyncio.sleep(1.5)
            # The first ones have ended, but this is not known here yet.
            assert not slots.step_aside()
            assert Pool.DOWNLOADS not in slots.find_rooms()
            await asyncio.gather(*tasks)

        play(scene)

    def test_not_all_lanes_are_remembered_for_ever(self) -> None:
        async def scene() -> None:
            waiting = Waiting()
            for number in range(MOST_LANES + 1):
                with waiting.of(a_job(number, "fetch", number)):
                    pass
            assert a_job(0, "fetch", 0).lane not in waiting.proven
            assert a_job(1, "fetch", 1).lane in waiting.proven

        play(scene)


def test_no_kind_begins_like_another() -> None:
    # A claim reads the lanes of one kind as a range.
    kinds = sorted(JobKind)
    assert not [
        (one, other) for one in kinds for other in kinds if one != other and other.startswith(one)
    ]
