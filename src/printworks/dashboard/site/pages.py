"""Pages and their form actions, by path and by the name of a button."""

from collections.abc import Callable
from typing import Concatenate, Generic, TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.forms import Sent
from printworks.dashboard.site.once import Submission
from printworks.dashboard.site.visits import Visit
from printworks.rules.people import Duty
from printworks.store.accounts.sessions import SignedIn

V = TypeVar("V", bound=Visit)
# What a form action returns: where the browser goes next, a page, or None to stay where it is.
Onward = str | Response | None
# It may take more than the visit when form actions show the page, such as a key to be shown once.
Show = Callable[Concatenate[V, ...], Response]
Take = Callable[[V], Onward]


class FormAction(msgspec.Struct, Generic[V], frozen=True):
    """What a form of a page does, by the name of its button."""

    # Unique among all form actions.
    name: str
    take: Take[V]
    # What the next page says.
    says: str = ""
    # Whether the password must have been entered recently.
    needs_password: bool = False
    # Whether it must be entered with this very form.
    always_asks: bool = False
    # What the person's role must include; None is what is usual in the area.
    duty: Duty | None = None
    # Whether it makes its own transactions, since it waits for something between them.
    alone: bool = False
    # Whether it changes nothing, so that it may be done as often as it is sent.
    only_shows: bool = False

    @property
    def done(self) -> str:
        """What the next page is told, if it says anything."""
        return self.name if self.says else ""


class Page(msgspec.Struct, Generic[V], frozen=True):
    """One page: where it is, who shows it, and what its forms ask for."""

    path: str
    show: Show[V]
    form_actions: list[FormAction[V]] = []
    duty: Duty = Duty.LOOK
    sandbox_only: bool = False
    # The duty of its forms, where it is another than that of the page.
    forms: Duty | None = None

    def __call__(self, visit: V, *more: object) -> Response:
        return self.show(visit, *more)

    def action(
        self,
        name: str,
        says: str = "",
        *,
        needs_password: bool = False,
        always_asks: bool = False,
        duty: Duty | None = None,
        alone: bool = False,
        only_shows: bool = False,
    ) -> Callable[[Take[V]], Take[V]]:
        """Make a function a form action of this page, with the duty of its forms unless it has one."""
        of_page = None if self.duty is Duty.LOOK else self.duty
        needed = duty or self.forms or of_page

        def register(take: Take[V]) -> Take[V]:
            action = FormAction(
                name,
                take,
                says,
                needs_password,
                always_asks,
                needed,
                alone,
                only_shows,
            )
            self.form_actions.append(action)
            return take

        return register

    def find_action(self, name: str) -> FormAction[V] | None:
        return next((action for action in self.form_actions if action.name == name), None)


def page_at(
    path: str, *, duty: Duty = Duty.LOOK, sandbox_only: bool = False, forms: Duty | None = None
) -> Callable[[Show[V]], Page[V]]:
    """Make a function the page at a path, which is served once it is in the table of its area."""
    return lambda show: Page(path, show, duty=duty, sandbox_only=sandbox_only, forms=forms)


class Arrival(msgspec.Struct, Generic[V], frozen=True):
    """A form that is ours and was sent by somebody who may."""

    page: Page[V]
    request: Request
    signed_in: SignedIn
    sent: Sent
    form_action: FormAction[V]
    # None if it has no token.
    submission: Submission | None
