"""The mails to a merchant's people and recipients."""

from starlette.responses import Response

from printworks.dashboard.mail.lists import describe_mail, list_mails
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.mail import MailKind, list_hidden
from printworks.rules.people import Realm
from printworks.store.mail.mails import get_mail


@page_at("/mail")
def show_mails(visit: MerchantVisit) -> Response:
    """Show the merchant's mails, newest first, and search for an address."""
    found = list_mails(visit, merchant_id=visit.merchant.id, hidden=_list_hidden(visit))
    return visit.render("merchant/mails.html", place="/mail", **found)


@page_at("/mail/{id}")
def show_mail(visit: MerchantVisit) -> Response:
    """Show one of them, without what is secret in it."""
    mail = get_mail(
        visit.db,
        visit.number("id"),
        merchant_id=visit.merchant.id,
        hidden=_list_hidden(visit),
    )
    return visit.render("merchant/mail.html", **describe_mail(visit, mail))


def _list_hidden(visit: MerchantVisit) -> list[MailKind]:
    """Return what the visitor's role is not told, such as what is owed."""
    return list_hidden(Realm.MERCHANT, visit.person.role)
