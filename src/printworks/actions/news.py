"""News for the people of a merchant: written where it happens, and marked as seen."""

from collections.abc import Sequence

from printworks.actions.work import SystemWork, Work
from printworks.rules.mail import MailKind, NoticeFact
from printworks.rules.news import NEWS
from printworks.store.accounts.merchants import get_merchant
from printworks.store.views.home.first_steps import hide_first_steps
from printworks.store.views.home.news import NewNews, add_news, mark_seen


def write_news(
    work: SystemWork, merchant_id: int, kind: MailKind, facts: Sequence[NoticeFact]
) -> None:
    """Let the people of a merchant see what happened, once for all that happened at once.

    Nothing that leads to a person is stored: a page reads the order itself.
    """
    if kind not in NEWS:
        return
    offset = get_merchant(work.db, merchant_id).clock_offset
    first = facts[0]
    new = NewNews(kind, first.order or None, first.subject, len(facts))
    add_news(work.db, merchant_id, new, at=work.real_now + offset, now=work.real_now)


def see_news(work: Work, person_id: int, *, news_id: int, event: int) -> None:
    """Mark everything up to here as seen by a person. Not audited: nobody else is concerned."""
    mark_seen(work.db, person_id, news_id=news_id, event=event)


def put_first_steps_away(work: Work, person_id: int, *, is_hidden: bool) -> None:
    """Put the list of first steps away for a person, or show it again."""
    hide_first_steps(work.db, person_id, is_hidden=is_hidden)
