"""Who reads a recipient's page: in which language, and what the page knows to write in it."""

from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.forms import find_choice
from printworks.dashboard.site.rendering import Fact, Link, Message, Onwards, render
from printworks.language.words import Words
from printworks.rules.languages import LANGUAGE_NAMES, Language, choose_language, guess_language

# The parameter, and the cookie that is set when somebody chooses and gone when the browser is closed. It
# is needed for what was asked for, and says nothing about anybody.
LANGUAGE: Final = "language"
_COOKIE: Final = "__Host-printworks-language"


class RecipientReader(NamedTuple):
    """Somebody at a page: how to write to them, and where they are."""

    words: Words
    page: str
    # Whether they have just chosen the language.
    has_chosen: bool = False


class LanguageLink(NamedTuple):
    """A language in which the page can be read."""

    code: str
    name: str
    address: str
    is_here: bool


class ShopView(NamedTuple):
    """What a recipient sees of a shop."""

    name: str
    logo: str = ""
    logo_width: int = 0
    logo_height: int = 0
    email: str = ""
    telephone: str = ""
    website: str = ""
    return_address: tuple[str, ...] = ()

    @property
    def has_contact(self) -> bool:
        """Whether there is a way to ask the shop."""
        return bool(self.email or self.telephone or self.website)

    @property
    def dialled(self) -> str:
        """The telephone number as a telephone takes it."""
        return "".join(sign for sign in self.telephone if sign.isdigit() or sign == "+")


def find_reader(request: Request, country: str | None = None) -> RecipientReader:
    """Find the language of a reader: the one chosen, or that of the browser, or of the country."""
    asked = find_choice(Language, request.query_params.get(LANGUAGE, ""))
    kept = find_choice(Language, request.cookies.get(_COOKIE, ""))
    accepted = request.headers.get("accept-language", "")
    likely = Language.EN if accepted else guess_language(country)
    language = asked or kept or choose_language(accepted, likely)
    return RecipientReader(
        Words(language, country or ""), str(request.scope["path"]), asked is not None
    )


def show_to(
    reader: RecipientReader,
    template: str,
    *,
    shop: ShopView | None = None,
    status: int = 200,
    onwards: Onwards | None = None,
    with_script: bool = False,
    **facts: Any,
) -> Response:
    """Return a page in the language of its reader."""
    words = reader.words
    answer = render(
        template,
        status=status,
        onwards=onwards,
        with_script=with_script,
        shop=shop,
        language=words.language.value,
        languages=_list_languages(reader),
        say=words.say,
        count=words.count,
        money=words.money,
        page=reader.page,
        has_script=with_script,
        **facts,
    )
    answer.headers["Content-Language"] = words.language.value
    answer.headers["Vary"] = "Accept-Language, Cookie"
    if reader.has_chosen:
        answer.set_cookie(
            _COOKIE, words.language.value, secure=True, httponly=True, samesite="lax", path="/"
        )
    return answer


def show_message_to(
    reader: RecipientReader,
    message: Message,
    *,
    shop: ShopView | None = None,
    status: int = 200,
    onwards: Onwards | None = None,
) -> Response:
    """Return a page that says one thing in the language of its reader."""
    return show_to(
        reader,
        "recipient/message.html",
        shop=shop,
        status=status,
        onwards=onwards,
        message=message,
    )


def refuse_unknown_order(reader: RecipientReader) -> Response:
    """Return the page for a link that leads nowhere, or no longer."""
    say = reader.words.say
    message = Message(
        tone="warn",
        title=say("Order not found"),
        sentences=(say("Check that the link is complete, or ask the shop for a new one."),),
    )
    return show_message_to(reader, message, status=404)


def name_facts(reader: RecipientReader, shop: str, order: str) -> tuple[Fact, ...]:
    """Return what a message is about."""
    say = reader.words.say
    return (Fact(say("Shop"), shop), Fact(say("Order"), order))


def link_refresh(reader: RecipientReader) -> Link:
    return Link(reader.words.say("Refresh"), reader.page)


def _list_languages(reader: RecipientReader) -> list[LanguageLink]:
    return [
        LanguageLink(
            language.value,
            name,
            f"{reader.page}?{LANGUAGE}={language.value}",
            language is reader.words.language,
        )
        for language, name in LANGUAGE_NAMES.items()
    ]
