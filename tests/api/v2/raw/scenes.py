"""What was there before a request of this folder: `given: order, photo, submitted`."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tests.api.v2.shop import ADDRESS, a_photo, an_order
from tests.running import Client, Merchant, Service
from tests.worker.shops import A_PICTURE

# Port 9 throws away what it is sent, where anything listens there at all.
URL: Final = "http://127.0.0.1:9/sunset.jpg"
MD5: Final = hashlib.md5(A_PICTURE, usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Stage:
    """A running service, with a merchant who asks and another who must not see it."""

    service: Service
    alice: Merchant
    bob: Merchant


@dataclass
class Scene:
    """What one case starts with."""

    client: Client
    theirs: Client
    prefix: str
    numbers: dict[str, int] = field(default_factory=dict)

    def send(self, path: str, body: Any, *, client: Client | None = None) -> Any:
        """Have something there."""
        answer = (client or self.client).post(self.prefix + path, body)
        assert answer.status == 200, answer.body
        return answer.json()

    def add_order(self, **members: Any) -> None:
        """Have an order that lacks nothing but photos."""
        order = self.send("/Orders", an_order(**ADDRESS | members))
        self.numbers["order"] = order["id"]

    def add_theirs(self) -> None:
        """Have an order of another merchant."""
        order = self.send("/Orders", an_order(**ADDRESS), client=self.theirs)
        self.numbers["theirs"] = order["id"]

    def add_photo(self) -> None:
        """Have a photo in the order."""
        photo = self.send(f"/Orders/{self.numbers['order']}/Photos", a_photo(url=URL))
        self.numbers["photo"] = photo["id"]

    def add_issue(self) -> None:
        """Have a complaint about the order."""
        complaint = {"issue": "LostInPost", "action": "Reprint"}
        issue = self.send(f"/Orders/{self.numbers['order']}/Issues", complaint)
        self.numbers["issue"] = int(issue["id"])

    def set_status(self, status: str) -> None:
        """Have the order in another status."""
        self.send(f"/Orders/{self.numbers['order']}/Status", {"status": status})


GIVEN: Final[Mapping[str, Callable[[Scene], None]]] = {
    "order": Scene.add_order,
    "standard order": lambda scene: scene.add_order(qualityLevel="Standard"),
    "recipient order": lambda scene: scene.add_order(payment="InvoiceRecipient"),
    "order without address": lambda scene: scene.add_order(address1=""),
    "photo": Scene.add_photo,
    "submitted": lambda scene: scene.set_status("Submitted"),
    "cancelled": lambda scene: scene.set_status("Cancelled"),
    "issue": Scene.add_issue,
    "theirs": Scene.add_theirs,
}


def set_scene(stage: Stage, version: str, given: tuple[str, ...]) -> Mapping[str, bytes]:
    """Have there what is given; return what can be put into the places of a request."""
    with stage.service.client(stage.alice) as alice, stage.service.client(stage.bob) as bob:
        scene = Scene(alice, bob, f"/v{version}")
        for each in given:
            GIVEN[each](scene)
    credentials = "\r\n".join(f"{name}: {value}" for name, value in stage.alice.headers.items())
    texts = {
        "v": version,
        "credentials": credentials,
        "merchant": stage.alice.id,
        "key": stage.alice.key,
        "url": URL,
        "md5": MD5,
        "MD5": MD5.upper(),
        **{name: str(number) for name, number in scene.numbers.items()},
    }
    return {**{name: text.encode() for name, text in texts.items()}, "picture": A_PICTURE}
