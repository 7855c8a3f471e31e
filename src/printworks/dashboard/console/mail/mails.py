"""The mails that were sent, are waiting, or failed."""

from starlette.responses import Response

from printworks.actions.mail.writing import resend_mail
from printworks.dashboard.mail.lists import describe_mail, list_mails
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.mail import WITH_LINK, MailState
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import get_merchant
from printworks.store.mail.mails import get_mail


@page_at("/console/mail")
def show_mails(visit: ConsoleVisit) -> Response:
    """Show mails, newest first, and search for an address."""
    return visit.render("console/mails.html", place="/console/mail", **list_mails(visit))


@page_at("/console/mail/{id}")
def show_mail(visit: ConsoleVisit) -> Response:
    """Show one mail, without what is secret in it."""
    mail = get_mail(visit.db, visit.number("id"))
    merchant = None if mail.merchant_id is None else get_merchant(visit.db, mail.merchant_id)
    return visit.render(
        "console/mail.html",
        merchant=merchant,
        has_link=mail.kind in WITH_LINK,
        may_resend=mail.state is not MailState.WAITING and visit.may(Duty.SUPPORT),
        **describe_mail(visit, mail),
    )


@show_mail.action("resend-mail", "The email is sent again.", duty=Duty.SUPPORT)
def send_again(visit: ConsoleVisit) -> None:
    resend_mail(visit.system_work, visit.number("id"))
