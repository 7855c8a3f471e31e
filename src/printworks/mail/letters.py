"""What each kind of mail says: once, for its text and its HTML alike.

Every word that a reader sees is an argument of `say` or `count`, from which the catalogues are made
(`make translations`).
"""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from printworks.language.words import Words
from printworks.mail import account_letters, notice_letters
from printworks.mail.letter import Letter, LetterLink, LetterTerms, Writing
from printworks.rules.mail import NOTICES, MailFacts, MailKind
from printworks.rules.people import Realm

_WriteLetter = Callable[[Writing], Letter]


def write_letter(kind: MailKind, facts: MailFacts, words: Words, terms: LetterTerms) -> Letter:
    """Write a mail of this kind in the language of its reader."""
    writing = Writing(words, facts, terms)
    letter = _LETTERS[kind](writing)
    if kind not in NOTICES:
        return letter
    is_console = NOTICES[kind].realm is Realm.OPERATOR
    place = "/console/mail/settings" if is_console else "/mail/settings"
    reason = words.say(
        "You get this because you have an account at {operator}.", operator=terms.operator
    )
    settings = LetterLink(words.say("Choose which emails you get"), writing.at(place))
    return msgspec.structs.replace(letter, reason=reason, settings=settings)


_LETTERS: Final[Mapping[MailKind, _WriteLetter]] = {
    MailKind.MERCHANT_INVITATION: account_letters.write_merchant_invitation,
    MailKind.COLLEAGUE_INVITATION: account_letters.write_colleague_invitation,
    MailKind.OPERATOR_INVITATION: account_letters.write_operator_invitation,
    MailKind.PASSWORD_RESET: account_letters.write_password_reset,
    MailKind.PASSWORD_CHANGED: account_letters.write_password_changed,
    MailKind.NEW_DEVICE: account_letters.write_new_device,
    MailKind.CALLBACKS_FAILED: notice_letters.write_callbacks_failed,
    MailKind.IMAGES_FAILED: notice_letters.write_images_failed,
    MailKind.PAYMENTS_REFUSED: notice_letters.write_payments_refused,
    MailKind.ISSUES_ANSWERED: notice_letters.write_issues_answered,
    MailKind.SHIPMENTS_SENT: notice_letters.write_shipments_sent,
    MailKind.PARCEL_SENT: notice_letters.write_parcel_sent,
    MailKind.LOW_CREDIT: notice_letters.write_low_credit,
    MailKind.OVERDUE: notice_letters.write_overdue,
    MailKind.INVOICES_READY: notice_letters.write_invoices_ready,
    MailKind.ISSUES_RAISED: notice_letters.write_issues_raised,
    MailKind.MERCHANTS_OVERDUE: notice_letters.write_merchants_overdue,
    MailKind.TEST: account_letters.write_test,
}
