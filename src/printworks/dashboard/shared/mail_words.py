"""What people read about kinds of mail and what has become of one."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from printworks.dashboard.shared.labels import Label
from printworks.rules.mail import MailKind, MailState


class MailName(NamedTuple):
    """The name of a kind of mail, and when it is sent."""

    text: str
    when: str = ""


MAIL_NAMES: Final[Mapping[MailKind, MailName]] = {
    MailKind.MERCHANT_INVITATION: MailName("Invitation of a merchant"),
    MailKind.COLLEAGUE_INVITATION: MailName("Invitation of a colleague"),
    MailKind.OPERATOR_INVITATION: MailName("Invitation of an operator"),
    MailKind.PASSWORD_RESET: MailName("Link to choose a password"),
    MailKind.PASSWORD_CHANGED: MailName("Password changed"),
    MailKind.NEW_DEVICE: MailName("New sign-in"),
    MailKind.ISSUES_ANSWERED: MailName(
        "Answers to your issues", "When somebody writes to you about an issue, or resolves one."
    ),
    MailKind.IMAGES_FAILED: MailName(
        "Images that cannot be printed", "When a file cannot be fetched, or is not a picture."
    ),
    MailKind.PAYMENTS_REFUSED: MailName(
        "Declined payments", "When your card is declined and an order comes back to you."
    ),
    MailKind.CALLBACKS_FAILED: MailName(
        "Callbacks that failed for good", "When your server has not accepted one for three days."
    ),
    MailKind.SHIPMENTS_SENT: MailName("Shipments", "When a lab has sent something."),
    MailKind.LOW_CREDIT: MailName("Low credit", "When little of your credit limit is left."),
    MailKind.OVERDUE: MailName("Overdue payments", "When you have owed something for too long."),
    MailKind.INVOICES_READY: MailName(
        "Invoices", "When invoices or credit notes were issued, at most once a day."
    ),
    MailKind.PARCEL_SENT: MailName("Parcels on their way"),
    MailKind.ISSUES_RAISED: MailName(
        "Issues", "When a merchant opens an issue, or writes about one."
    ),
    MailKind.MERCHANTS_OVERDUE: MailName(
        "Overdue merchants", "When a merchant has owed something for too long."
    ),
    MailKind.TEST: MailName("Test email"),
}
MAIL_STATES: Final[Mapping[MailState, Label]] = {
    MailState.WAITING: Label("Waiting", ""),
    MailState.SENT: Label("Sent", "ok"),
    MailState.FAILED: Label("Failed", "error"),
}
