"""What a person is told by mail, and how the merchant and its recipients are written to."""

from starlette.responses import Response

from printworks.actions.mail.choices import change_mail_settings
from printworks.dashboard.mail.choosing import describe_choices, take_choices
from printworks.dashboard.site.forms import read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.languages import LANGUAGE_NAMES, Language
from printworks.rules.people import Duty
from printworks.store.mail.settings import MailSettings, read_mail_settings


@page_at("/mail/settings", forms=Duty.MANAGE)
def show_mail_settings(visit: MerchantVisit) -> Response:
    """Show what the person is told of, and what the merchant has chosen."""
    return visit.render(
        "merchant/mail_settings.html",
        known=read_mail_settings(visit.db, visit.merchant.id),
        languages=[(language.value, name) for language, name in LANGUAGE_NAMES.items()],
        usual_language=LANGUAGE_NAMES[Language(visit.services.settings.mail_language)],
        **describe_choices(visit),
    )


@show_mail_settings.action("choose-mails", "Your choice was saved.", duty=Duty.LOOK)
def choose(visit: MerchantVisit) -> None:
    take_choices(visit)


@show_mail_settings.action("change-mail-settings", "The mail settings were saved.")
def change(visit: MerchantVisit) -> None:
    """Change the language, and whether and how recipients are written to."""
    sent = visit.sent
    settings = MailSettings(
        language=_read_language(visit, "language"),
        writes_to_recipients=bool(sent.text("writes_to_recipients")),
        recipient_language=_read_language(visit, "recipient_language"),
        recipient_reply_to=sent.text("recipient_reply_to"),
    )
    change_mail_settings(visit.work, settings)


def _read_language(visit: MerchantVisit, name: str) -> Language | None:
    text, refusal = visit.sent.text(name), "Choose one of the languages."
    return read_choice(Language, text, refusal, field=name) if text else None
