"""Puts a mail together: its headers, its text and its HTML."""

from datetime import datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from typing import Final

import msgspec

from printworks.mail.letter import LetterLogo
from printworks.mail.rendering import Body
from printworks.rules.mail import LONGEST_NAME, tidy_line

# As long as a line may be: the library breaks longer ones by encoding them, and then mail programs
# do not find the address in `List-Unsubscribe`.
_POLICY: Final = SMTP.clone(max_line_length=998)
_LONGEST_SUBJECT: Final = 150
SANDBOX: Final = "[Sandbox] "


class BadRecipient(Exception):
    """The address cannot be written as one in a message."""


class MailHeaders(msgspec.Struct, frozen=True, kw_only=True):
    """What the headers of a mail say."""

    sender: str
    sender_name: str
    to: str
    to_name: str = ""
    reply_to: str = ""
    subject: str
    message_id: str
    language: str
    at: datetime
    # The address that ends mails of this kind with one click (RFC 8058); empty if none does.
    unsubscribe: str = ""


def build_message(headers: MailHeaders, body: Body, logo: LetterLogo | None = None) -> EmailMessage:
    """Return the message; raise `BadRecipient` if the address cannot be written."""
    message = EmailMessage(_POLICY)
    message["From"] = Address(_name(headers.sender_name), addr_spec=headers.sender)
    message["To"] = _write_recipient(headers)
    if headers.reply_to:
        message["Reply-To"] = headers.reply_to
    message["Subject"] = _tidy(headers.subject, _LONGEST_SUBJECT)
    message["Date"] = headers.at
    message["Message-ID"] = f"<{headers.message_id}>"
    # So that no holiday notice answers, and no other robot (RFC 3834).
    message["Auto-Submitted"] = "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    if headers.unsubscribe:
        message["List-Unsubscribe"] = f"<{headers.unsubscribe}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    message.set_content(body.text, cte="quoted-printable")
    message.add_alternative(body.html, subtype="html", cte="quoted-printable")
    if logo is not None:
        _enclose(message, logo)
    # After the parts, to which such a header would be moved.
    message["Content-Language"] = headers.language
    return message


def _enclose(message: EmailMessage, logo: LetterLogo) -> None:
    """Send the logo with the HTML that shows it: nothing is fetched when a mail is read."""
    _, written = message.iter_parts()
    written.add_related(
        logo.content,
        maintype="image",
        subtype="jpeg",
        cid=f"<{logo.name}>",
        disposition="inline",
        filename="logo.jpg",
    )


def _write_recipient(headers: MailHeaders) -> Address:
    user, _, domain = headers.to.rpartition("@")
    try:
        # What a server without international mail understands, too.
        spelled = domain if domain.isascii() else domain.encode("idna").decode()
        if user.isascii():
            return Address(_name(headers.to_name), addr_spec=f"{user}@{spelled}")
        # The parser takes no such user, although some servers do.
        return Address(_name(headers.to_name), username=user, domain=spelled)
    except (MessageError, ValueError, IndexError) as error:
        raise BadRecipient("The address cannot be written in an email.") from error


def _name(text: str) -> str:
    return _tidy(text, LONGEST_NAME)


def _tidy(text: str, longest: int) -> str:
    """Return what somebody has entered as one line of a header, and nothing but its text.

    The library decodes what looks like an encoded word: that of a line feed would begin a header.
    """
    return tidy_line(text.replace("=?", "= ?"), longest)
