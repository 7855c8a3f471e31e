"""Entity tags: what a client has seen is not sent to it again."""

from dataclasses import replace

import msgspec
import pytest

from printworks.api.kept_answers import LARGEST_KEPT, MOST_BYTES_KEPT, MOST_KEPT, KeptAnswers
from printworks.api.messages import Request, Response
from printworks.api.tags import Tags
from printworks.catalogue.opening import open_catalogue
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.images import add, create
from tests.api.production import hear, see, submit
from tests.running import Answer

VERSIONS = ["3.0", "2.6", "2.5", "2.3"]


def ask(client: Client, path: str, known: str, **headers: str) -> Answer:
    """Read what is not known under one of these tags."""
    return client.request("GET", path, headers={"If-None-Match": known, **headers})


def tag_of(client: Client, path: str) -> str:
    return client.get(path).headers["etag"]


def an_order_of(client: Client) -> str:
    return f"/orders/{create(client)}"


@pytest.mark.both_databases
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("path", ["/orders/{}", "/orders", "/orders/{}/SubmissionStatus"])
def test_what_was_seen_is_not_sent_again(v3: Client, version: str, path: str) -> None:
    path, client = path.format(create(v3)), replace(v3, prefix=f"/v{version}")
    tag = tag_of(client, path)

    answer = ask(client, path, tag)

    assert (answer.status, answer.body, answer.headers["etag"]) == (304, b"", tag)
    assert "content-length" not in answer.headers
    assert answer.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize("known", ["W/{}", '"a", {}', '"a",W/{} , "b"', "*"])
def test_tags_are_compared_weakly_and_there_may_be_several(v3: Client, known: str) -> None:
    path = an_order_of(v3)

    assert ask(v3, path, known.format(tag_of(v3, path))).status == 304


@pytest.mark.parametrize("known", ["", '""', '"a"', '"a, b"', "W/*", "\xff", "," * 5000])
def test_other_tags_do_not_matter(v3: Client, known: str) -> None:
    path = an_order_of(v3)

    assert ask(v3, path, known).body == v3.get(path).body


@pytest.mark.both_databases
def test_every_change_of_an_order_gives_it_another_tag(v3: Client, database: Database) -> None:
    order = submit(v3)
    tags = [tag_of(v3, f"/orders/{order}")]
    for state in (LabState.ACCEPTED, LabState.IN_PRODUCTION, LabState.DISPATCHED):
        hear(database, v3, order, state)

        answer = ask(v3, f"/orders/{order}", ", ".join(tags))

        assert answer.status == 200
        tags.append(answer.headers["etag"])


@pytest.mark.both_databases
def test_an_order_that_was_read_before_is_shown_as_it_is_now(
    v3: Client, somebody_else: Client, database: Database
) -> None:
    order = submit(v3)
    first = see(v3, order)
    assert see(v3, order) == first
    hear(database, v3, order, LabState.DISPATCHED)

    assert see(v3, order)["status"] == "Complete"
    assert somebody_else.get(f"/orders/{order}").status == 404


def test_only_the_latest_and_small_answers_are_kept() -> None:
    kept = KeptAnswers()
    for number in range(MOST_KEPT + 1):
        kept.keep(number, Response(200, "", b"{}"))
    kept.keep("large", Response(200, "", b"x" * (LARGEST_KEPT + 1)))

    assert kept.find(0) is None
    assert kept.find(1) is not None
    assert kept.find("large") is None


def test_of_large_answers_fewer_are_kept() -> None:
    kept, large = KeptAnswers(), Response(200, "", b"x" * LARGEST_KEPT)
    most = MOST_BYTES_KEPT // LARGEST_KEPT
    for number in [*range(most), most - 1]:
        kept.keep(number, large)
    assert kept.find(0) is not None

    kept.keep("one more", large)

    assert kept.find(0) is None
    assert kept.find(1) is not None


def test_a_plan_has_another_tag_when_its_dates_change(v3: Client, clock: MovableClock) -> None:
    order = create(v3)
    add(v3, order)
    path = f"/orders/{order}"
    tag = tag_of(v3, path)
    assert ask(v3, path, tag).status == 304

    clock.advance(days=14)

    assert ask(v3, path, tag).status == 200


def test_each_version_and_format_has_tags_of_its_own(v3: Client) -> None:
    path = an_order_of(v3)
    clients = [replace(v3, prefix=f"/v{version}") for version in VERSIONS]
    tags = {tag_of(client, path) for client in clients}
    tags |= {client.get(path, Accept="text/xml").headers["etag"] for client in clients}

    assert len(tags) == 2 * len(VERSIONS)


def test_a_refused_request_is_never_answered_as_known(
    v3: Client, somebody_else: Client, stranger: Client
) -> None:
    path = an_order_of(v3)

    assert ask(v3, "/orders/999", "*").status == 404
    assert ask(v3, "/orders?limit=x", "*").status == 400
    for client, status in ((somebody_else, 404), (stranger, 401)):
        assert ask(client, path, f"*, {tag_of(v3, path)}").status == status
        assert "etag" not in client.get(path).headers


def test_only_what_is_read_has_a_tag(v3: Client) -> None:
    order = create(v3)

    changed = v3.request("PUT", f"/orders/{order}", headers={"If-None-Match": "*"})

    assert changed.status == 400
    assert "etag" not in v3.post(f"/orders/{order}/status", {"status": "Cancelled"}).headers


def test_another_catalogue_or_address_gives_other_tags() -> None:
    request = Request("GET", "/", "", {}, b"", "id")

    first = open_catalogue(None)
    second = msgspec.structs.replace(first, fingerprint="another")
    in_use = [first]

    def tag(tags: Tags) -> str:
        return tags.of_mark(request, "3.0", "1")

    here = Tags("https://here.example", lambda: in_use[-1])
    there = Tags("https://there.example", lambda: in_use[-1])
    before, elsewhere = tag(here), tag(there)
    in_use.append(second)

    assert len({before, elsewhere, tag(here)}) == 3
    in_use.append(first)
    assert tag(here) == before
