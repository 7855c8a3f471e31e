"""Puts stored mails together, for a server or for the eyes of an operator."""

from datetime import datetime
from email.message import EmailMessage

from sqlalchemy import Connection

from printworks.errors import NotFound
from printworks.language.words import Words
from printworks.mail.letter import Letter, LetterLogo, LetterTerms
from printworks.mail.letters import write_letter
from printworks.mail.messages import SANDBOX, MailHeaders, build_message
from printworks.mail.rendering import render_letter
from printworks.mail.unsubscribing import LANGUAGE, make_unsubscribe_path
from printworks.rules.brand import Brand
from printworks.rules.languages import Language
from printworks.rules.mail import NOTICES, WITH_LINK, MailFacts, MailKind
from printworks.rules.orders import Payment
from printworks.settings import Settings
from printworks.store.accounts.brand import read_brand
from printworks.store.accounts.secrets import about_mail, get_link_key
from printworks.store.mail.choices import hash_recipient
from printworks.store.mail.mails import Mail
from printworks.store.mail.settings import read_mail_settings
from printworks.store.orders.orders import get_followed_order
from printworks.vault import Vault
from printworks.wire.links import Links


def compose_mail(
    settings: Settings,
    db: Connection,
    vault: Vault,
    mail: Mail,
    *,
    now: datetime,
    logo: LetterLogo | None = None,
) -> EmailMessage:
    """Return a mail as it is sent: with its link, and with one that ends mails of its kind.

    The logo is that of the operator: recipients know the shop, and do not see it.
    """
    facts, words = mail.facts, Words(mail.language, mail.facts.country)
    link = ""
    if mail.secret is not None:
        token = vault.open(mail.secret, about=about_mail(mail.message_id))
        link = f"{settings.public_url}/invitations/{token}"
    unsubscribe = ""
    key = get_link_key(db, vault)
    if reader := _find_reader(mail):
        path = make_unsubscribe_path(key, reader, mail.kind, mail.language)
        unsubscribe = f"{settings.public_url}{path}"
    order_page = _find_order_page(db, mail, Links(settings.public_url, key))
    said = read_brand(db).brand
    terms = _write_terms(settings, said, link, unsubscribe, order_page)
    letter = write_letter(mail.kind, facts, words, terms)
    is_to_recipient = mail.kind is MailKind.PARCEL_SENT
    brand = facts.shop if is_to_recipient else ""
    reply_to = ""
    if is_to_recipient and mail.merchant_id is not None:
        reply_to = read_mail_settings(db, mail.merchant_id).recipient_reply_to
    headers = MailHeaders(
        sender=said.sender_email or settings.mail_from,
        # Recipients know the shop, and not who prints for it.
        sender_name=brand or _name_sender(settings, said),
        to=mail.email,
        to_name=mail.name,
        reply_to=reply_to or said.reply_to or settings.mail_reply_to,
        subject=_write_subject(settings, letter),
        message_id=mail.message_id,
        language=mail.language,
        at=now,
        unsubscribe=unsubscribe,
    )
    shown = None if is_to_recipient else logo
    body = render_letter(letter, words, terms, brand=brand, logo=shown)
    return build_message(headers, body, shown)


def _find_order_page(db: Connection, mail: Mail, links: Links) -> str:
    """Return where a recipient can follow the order, in the language of the mail."""
    if mail.kind is not MailKind.PARCEL_SENT or mail.order_id is None:
        return ""
    try:
        order = get_followed_order(db, mail.order_id)
    except NotFound:
        return ""
    pays = order.payment is Payment.INVOICE_RECIPIENT and order.payment_token
    page = links.payment(pays) if pays else links.tracking(order.id)
    return f"{page}?{LANGUAGE}={mail.language}"


def _find_reader(mail: Mail) -> str:
    """Return who can end mails of this kind with a link; empty if nobody can."""
    if mail.kind in NOTICES:
        return str(mail.person_id)
    if mail.kind is MailKind.PARCEL_SENT and mail.merchant_id is not None:
        return hash_recipient(mail.merchant_id, mail.email)
    return ""


def _write_subject(settings: Settings, letter: Letter) -> str:
    return f"{SANDBOX if settings.environment == 'sandbox' else ''}{letter.subject}"


def write_subject(settings: Settings, brand: Brand, mail: Mail) -> str:
    """Return the subject of a mail, for a list."""
    return _write_subject(settings, _write_harmless(settings, brand, mail))


def write_harmless_text(settings: Settings, brand: Brand, mail: Mail) -> str:
    """Return the text of a mail without the links that let somebody in, or change something."""
    words = Words(mail.language, mail.facts.country)
    letter = _write_harmless(settings, brand, mail)
    return render_letter(letter, words, _harmless_terms(settings, brand, mail)).text


def _write_harmless(settings: Settings, brand: Brand, mail: Mail) -> Letter:
    words = Words(mail.language, mail.facts.country)
    return write_letter(mail.kind, mail.facts, words, _harmless_terms(settings, brand, mail))


def _harmless_terms(settings: Settings, brand: Brand, mail: Mail) -> LetterTerms:
    link = f"{settings.public_url}/invitations/…" if mail.kind in WITH_LINK else ""
    return _write_terms(settings, brand, link)


def _write_terms(
    settings: Settings, brand: Brand, link: str = "", unsubscribe: str = "", order_page: str = ""
) -> LetterTerms:
    """Return what letters say about the service, by its brand or else by its settings."""
    return LetterTerms(
        brand.name or settings.operator_name,
        settings.public_url,
        link,
        unsubscribe,
        order_page,
        accent=brand.accent,
        has_imprint=bool(brand.imprint),
        has_terms=bool(brand.terms),
    )


def _name_sender(settings: Settings, brand: Brand) -> str:
    named = brand.sender_name or settings.mail_from_name
    return named or brand.name or settings.operator_name


def compose_test(
    settings: Settings,
    brand: Brand,
    email: str,
    *,
    now: datetime,
    message_id: str,
    logo: LetterLogo | None = None,
) -> EmailMessage:
    """Return a mail that only shows that mail works."""
    words = Words(Language(settings.mail_language))
    terms = _write_terms(settings, brand)
    letter = write_letter(MailKind.TEST, MailFacts(), words, terms)
    headers = MailHeaders(
        sender=brand.sender_email or settings.mail_from,
        sender_name=_name_sender(settings, brand),
        to=email,
        reply_to=brand.reply_to or settings.mail_reply_to,
        subject=_write_subject(settings, letter),
        message_id=message_id,
        language=settings.mail_language,
        at=now,
    )
    return build_message(headers, render_letter(letter, words, terms, logo=logo), logo)
