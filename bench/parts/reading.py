"""Reading orders, against the least that the server can do and against the usual peer."""

from collections.abc import Mapping

from bench.clients import ask
from bench.lines import Line, compare
from bench.servers import Plan, plan_fastapi
from bench.session import Session, rates
from bench.workload import THREE
from bench.wrk import NoAnswers, Target

GET = "/v3.0/orders/%d"


def measure(session: Session) -> list[Line]:
    """Measure GET, 304 and SubmissionStatus."""
    few = session.sizes.few
    seeded = session.seed("ours")
    plain, sent = seeded.add_orders(few), seeded.add_orders(few, THREE, is_sent=True)
    open_ones = seeded.add_orders(few, THREE)
    seeded.close()
    ours, hello = session.plan("ours", seeded), session.plan_hello()
    fastapi = plan_fastapi(
        _write_peer_address(session.make_url("fastapi")),
        session.certificate,
        processes=session.sizes.processes,
        order_count=few,
    )

    def read(path: str, ids: range, tag: str = "") -> Target:
        return Target(ours.port, path, ours.credentials, ids=ids, known_tag=tag)

    with session.serving(hello=hello, ours=ours, fastapi=fastapi):
        targets = {
            "hello": Target(hello.port, "/"),
            "GET": read(GET, plain),
            "GET, sent": read(GET, sent),
            "GET, open": read(GET, open_ones),
            "SubmissionStatus": read(f"{GET}/SubmissionStatus", open_ones),
            "FastAPI": Target(fastapi.port, GET, fastapi.credentials, ids=range(1, few + 1)),
        }
        tag = _find_tag(ours, f"/v3.0/orders/{sent[0]}")
        if tag:
            targets["304"] = read(f"/v3.0/orders/{sent[0]}", sent, tag)
        found = session.interleave("reading", {n: session.driving(t) for n, t in targets.items()})
    session.note("requests", found)
    return _compare({name: rates(samples) for name, samples in found.items()})


def _compare(rate: Mapping[str, list[float]]) -> list[Line]:
    with_images = "SubmissionStatus / GET with images"
    return [
        compare("GET / hello", rate["GET"], rate["hello"]),
        compare("GET with 3 images and 2 shipments / hello", rate["GET, sent"], rate["hello"]),
        compare("304 / hello", rate["304"], rate["hello"])
        if "304" in rate
        else Line("304 / hello", None, note="not offered"),
        compare("GET / FastAPI", rate["GET"], rate["FastAPI"]),
        compare(with_images, rate["SubmissionStatus"], rate["GET, open"]),
    ]


def _find_tag(plan: Plan, path: str) -> str:
    """Return the entity tag of an order if the answer to it is 304, or nothing."""
    tag = ask(plan, "GET", path).find_header("ETag")
    if not tag:
        return ""
    again = ask(plan, "GET", path, If_None_Match=tag)
    if again.status != 304:
        message = f"{path} has the tag {tag}, and answers {again.status} to it."
        raise NoAnswers(message)
    return tag


def _write_peer_address(url: str) -> str:
    return url.replace("sqlite:", "sqlite+aiosqlite:").replace("postgresql:", "postgresql+asyncpg:")
