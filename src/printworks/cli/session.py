"""One way for all commands: settings, database and services, who acts, and how to answer."""

import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Final, ParamSpec, Self

import typer

from printworks.cli.output import Output
from printworks.redaction import hide_secrets
from printworks.setting_values import PREFIX
from printworks.settings import Settings

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from sqlalchemy import Connection

    from printworks.actions.services import Services
    from printworks.actions.work import Actor, SystemWork, Work

Options = ParamSpec("Options")

# The machine knows who has a shell here; the service does not.
WHO: Final = "command line"

_DATA: Final = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="The data folder.")
]
_JSON: Final = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


class CommandSession(Output):
    """What one command works with; each part is opened when it is first needed."""

    def __init__(self, data: Path, *, is_json: bool) -> None:
        super().__init__(is_json=is_json)
        self._data = data
        self._options: dict[str, str] = {}
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._opened.close()

    @cached_property
    def settings(self) -> Settings:
        """The settings of the data folder."""
        settings = Settings.load(self._data, {**os.environ, **self._options})
        hide_secrets(settings.secret_texts)
        return settings

    def prefer(self, name: str, value: object | None) -> None:
        """Let an option of the command win over a setting; None leaves it as it is.

        Call it before anything reads the settings.
        """
        if value is not None:
            self._options[f"{PREFIX}{name.upper()}"] = str(value)

    @cached_property
    def services(self) -> "Services":
        """The services, with a database that has the tables of this version."""
        # Imported here: much of it is of no use to commands without a database.
        from printworks.cli.opening import open_services

        return self._opened.enter_context(open_services(self.settings))

    @property
    def has_database(self) -> bool:
        """Whether there is a database; a command that only reads does not make one."""
        from sqlalchemy import make_url

        url = make_url(self.settings.database_url)
        return url.get_backend_name() != "sqlite" or Path(url.database or "").exists()

    def reading(self) -> "AbstractContextManager[Connection]":
        """Read from the database for the length of the block."""
        return self.services.database.reading()

    @contextmanager
    def system_work(self) -> "Iterator[SystemWork]":
        """Work in a transaction of its own that belongs to no merchant in particular."""
        with self.services.database.writing() as db:
            yield self.services.system_work(db, self.actor)

    @contextmanager
    def work(self, merchant_id: str) -> "Iterator[Work]":
        """Work for a merchant in a transaction of its own."""
        from printworks.store.accounts.merchants import get_merchant_by_code

        with self.system_work() as system:
            yield system.for_merchant(get_merchant_by_code(system.db, merchant_id))

    @property
    def actor(self) -> "Actor":
        """Who acts, as the audit log names it."""
        from printworks.actions.work import Actor
        from printworks.rules.people import Realm

        return Actor(Realm.OPERATOR, WHO)


def command(
    app: typer.Typer, name: str, *, has_json: bool = True
) -> Callable[
    [Callable[Concatenate[CommandSession, Options], None]],
    Callable[Concatenate[CommandSession, Options], None],
]:
    """Add a command that is passed a session, and takes `--data` and `--json` for it."""

    def add(
        body: Callable[Concatenate[CommandSession, Options], None],
    ) -> Callable[Concatenate[CommandSession, Options], None]:
        def run(context: typer.Context, **options: Any) -> None:
            data = options.pop("data") or context.find_root().obj or Path("data")
            is_json = options.pop("json", False)
            with CommandSession(data, is_json=is_json) as session:
                body(session, **options)  # type: ignore[call-arg]

        _describe(run, body, has_json=has_json)
        app.command(name)(run)
        return body

    return add


def _describe(run: Callable[..., None], body: Callable[..., None], *, has_json: bool) -> None:
    """Give what Typer calls the parameters and the help of a command's body."""
    _, *own = inspect.signature(body, eval_str=True).parameters.values()
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("context", keyword, annotation=typer.Context),
        *(parameter.replace(kind=keyword) for parameter in own),
        inspect.Parameter("data", keyword, annotation=_DATA, default=None),
    ]
    if has_json:
        parameters.append(inspect.Parameter("json", keyword, annotation=_JSON, default=False))
    run.__doc__ = body.__doc__
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
