"""Letters about what happened: to orders, to issues and to accounts."""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from printworks.mail.letter import Letter, LetterItem, LetterLink, Writing, write_name
from printworks.rules.mail import NoticeFact, tidy_line
from printworks.rules.reminders import ReminderTone


def write_callbacks_failed(w: Writing) -> Letter:
    say, count = w.words.say, w.facts.count
    return Letter(
        subject=w.words.count(
            "A callback failed for good", "{count} callbacks failed for good", count
        ),
        heading=say("Your server did not accept our callbacks"),
        sentences=(
            w.words.count(
                "We tried for three days to send a callback to {shop}, and have given up.",
                "We tried for three days to send {count} callbacks to {shop}, and have given up.",
                count,
                shop=write_name(w.facts.shop),
            ),
            say("Once your server is working again, you can resend them with one click."),
        ),
        items=tuple(_about_order(w, fact) for fact in w.facts.items),
        more=_more(w),
        button=LetterLink(say("Open the callbacks"), w.at("/integrations")),
    )


def write_images_failed(w: Writing) -> Letter:
    say, count = w.words.say, w.facts.count
    return Letter(
        subject=w.words.count(
            "An image cannot be printed", "{count} images cannot be printed", count
        ),
        heading=w.words.count(
            "An image cannot be printed", "{count} images cannot be printed", count
        ),
        sentences=(
            say("We could not fetch the file, or it cannot be printed. The reason is below."),
            say("An order is not printed until you have replaced or removed its image."),
        ),
        items=tuple(_about_order(w, fact) for fact in w.facts.items),
        more=_more(w),
        button=LetterLink(say("Open your orders"), w.at("/orders")),
    )


def write_payments_refused(w: Writing) -> Letter:
    say, count = w.words.say, w.facts.count
    return Letter(
        subject=w.words.count("A payment was declined", "{count} payments were declined", count),
        heading=w.words.count("A payment was declined", "{count} payments were declined", count),
        sentences=(
            say("Nothing was charged, and nothing is printed."),
            say("Check your card, then submit the order again."),
        ),
        items=tuple(_about_order(w, fact) for fact in w.facts.items),
        more=_more(w),
        # Each order has a link of its own.
        button=LetterLink(say("Check your card"), w.at("/settings/card"))
        if w.facts.may_change_card
        else LetterLink(say("Open your orders"), w.at("/orders")),
    )


def write_issues_answered(w: Writing) -> Letter:
    say, count = w.words.say, w.facts.count
    return Letter(
        subject=w.words.count("Your issue was answered", "{count} answers to your issues", count),
        heading=w.words.count("Your issue was answered", "{count} answers to your issues", count),
        sentences=(say("{operator} has written to you.", operator=w.terms.operator),),
        items=tuple(_about_issue(w, fact, "/issues") for fact in w.facts.items),
        more=_more(w),
        button=LetterLink(say("Open your issues"), w.at("/issues")),
    )


def write_issues_raised(w: Writing) -> Letter:
    say, count = w.words.say, w.facts.count
    return Letter(
        subject=w.words.count(
            "A merchant wrote about an issue", "{count} messages about issues", count
        ),
        heading=w.words.count(
            "A merchant wrote about an issue", "{count} messages about issues", count
        ),
        items=tuple(_about_issue(w, fact, "/console/issues") for fact in w.facts.items),
        more=_more(w),
        button=LetterLink(say("Open the issues"), w.at("/console/issues")),
    )


def _about_issue(w: Writing, fact: NoticeFact, place: str) -> LetterItem:
    say = w.words.say
    title = say("Issue {issue} of order {order}", issue=fact.subject, order=fact.order)
    whose = (write_name(fact.merchant),) if fact.merchant else ()
    said = (say("“{text}”", text=tidy_line(fact.text)),) if fact.text else ()
    return LetterItem(title, w.at(f"{place}/{fact.subject}"), (*whose, *said))


def write_shipments_sent(w: Writing) -> Letter:
    say, count = w.words.say, w.facts.count
    return Letter(
        subject=w.words.count(
            "A shipment is on its way", "{count} shipments are on their way", count
        ),
        heading=w.words.count(
            "A shipment is on its way", "{count} shipments are on their way", count
        ),
        items=tuple(_about_order(w, fact) for fact in w.facts.items),
        more=_more(w),
        button=LetterLink(say("Open your orders"), w.at("/orders")),
    )


def write_parcel_sent(w: Writing) -> Letter:
    say, shop = w.words.say, write_name(w.facts.shop)
    [fact] = w.facts.items
    page = w.terms.order_page
    see = LetterLink(say("See where your order is"), page) if page else None
    tracking = _track(w, fact)
    number = ((say("Tracking number"), fact.tracking_number),) if fact.tracking_number else ()
    reference = ((say("Order"), write_name(fact.reference)),) if fact.reference else ()
    carrier = ((say("Carrier"), fact.carrier),) if fact.carrier else ()
    return Letter(
        subject=say("Your parcel from {shop} is on its way", shop=shop),
        heading=say("Your parcel is on its way"),
        sentences=(say("Your order from {shop} was printed and sent.", shop=shop),),
        facts=(*reference, *carrier, *number),
        # The page knows all parcels, and where each can be followed.
        items=(LetterItem(tracking.text, tracking.address),) if see and tracking else (),
        button=see or tracking,
        reason=say(
            "{operator} prints and sends this order for {shop}.",
            operator=w.terms.operator,
            shop=shop,
        ),
        settings=LetterLink(say("No more emails about parcels from {shop}", shop=shop), "")
        if w.terms.unsubscribe
        else None,
    )


def _about_order(w: Writing, fact: NoticeFact) -> LetterItem:
    say = w.words.say
    title = say("Order {order}", order=fact.order)
    if fact.reference:
        title = f"{title} · {write_name(fact.reference)}"
    amount = (w.words.money(fact.amount, fact.currency),) if fact.currency else ()
    sent = " ".join(filter(None, (fact.carrier, fact.tracking_number)))
    text = tidy_line(fact.text)
    lines = (*amount, *filter(None, (text, sent)))
    return LetterItem(title, w.at(f"/orders/{fact.order}"), lines, _track(w, fact))


def _track(w: Writing, fact: NoticeFact) -> LetterLink | None:
    if not fact.tracking_url:
        return None
    return LetterLink(w.words.say("Follow the parcel"), fact.tracking_url)


def _more(w: Writing) -> str:
    rest = w.facts.count - len(w.facts.items)
    return w.words.count("and {count} more", "and {count} more", rest) if rest > 0 else ""


def write_low_credit(w: Writing) -> Letter:
    say = w.words.say
    fact = w.facts.items[-1]
    return Letter(
        subject=say("Your credit at {operator} is almost used up", operator=w.terms.operator),
        heading=say("Your credit is almost used up"),
        sentences=(
            say(
                "{shop} can still order for {amount}. After that, new orders are refused until you "
                "have paid.",
                shop=write_name(w.facts.shop),
                amount=w.words.money(fact.amount, fact.currency),
            ),
        ),
        button=LetterLink(say("Open your account"), w.at("/account")),
    )


def write_overdue(w: Writing) -> Letter:
    fact = w.facts.items[-1]
    amount = w.words.money(fact.amount, fact.currency)
    title, sentences = _REMINDERS[fact.tone](w, amount, fact)
    return Letter(
        subject=title,
        heading=title,
        sentences=(
            *sentences,
            w.words.say("If you have paid in the last few days, ignore this email."),
        ),
        button=LetterLink(w.words.say("Open your account"), w.at("/account")),
    )


_Reminder: TypeAlias = tuple[str, tuple[str, ...]]


def _say_overdue(w: Writing, amount: str, _: NoticeFact) -> _Reminder:
    say = w.words.say
    return say("Payment overdue: {amount}", amount=amount), (
        say(
            "{shop} has owed {operator} this amount for longer than agreed. Please pay it now.",
            shop=write_name(w.facts.shop),
            operator=w.terms.operator,
        ),
    )


def _remind_friendly(w: Writing, amount: str, fact: NoticeFact) -> _Reminder:
    say = w.words.say
    return say("A friendly reminder: {amount} is due", amount=amount), (
        say(
            "{shop} owes {operator} {amount}, which was due on {day}. Perhaps it was overlooked.",
            **_name_debt(w, amount, fact),
        ),
        say("Please pay it in the next few days."),
    )


def _remind_firmly(w: Writing, amount: str, fact: NoticeFact) -> _Reminder:
    say = w.words.say
    return say("Another reminder: {amount} is overdue", amount=amount), (
        say(
            "We have reminded you before: {shop} owes {operator} {amount}, due since {day}.",
            **_name_debt(w, amount, fact),
        ),
        say("Please pay it now, or tell us what stands in the way."),
    )


def _remind_last(w: Writing, amount: str, fact: NoticeFact) -> _Reminder:
    say = w.words.say
    return say("Last notice: {amount} is overdue", amount=amount), (
        say(
            "We have reminded you before: {shop} owes {operator} {amount}, due since {day}.",
            **_name_debt(w, amount, fact),
        ),
        say(
            "This is our last notice. If it is not paid now, we may suspend your account: nothing "
            "new can then be ordered until it is paid."
        ),
    )


def _name_debt(w: Writing, amount: str, fact: NoticeFact) -> dict[str, object]:
    return {
        "shop": write_name(w.facts.shop),
        "operator": w.terms.operator,
        "amount": amount,
        "day": w.words.date(fact.due_on) if fact.due_on else "",
    }


_REMINDERS: Final[Mapping[ReminderTone | None, Callable[[Writing, str, NoticeFact], _Reminder]]] = {
    None: _say_overdue,
    ReminderTone.FRIENDLY: _remind_friendly,
    ReminderTone.FIRM: _remind_firmly,
    ReminderTone.LAST: _remind_last,
}


def write_merchants_overdue(w: Writing) -> Letter:
    say, count = w.words.say, w.facts.count
    return Letter(
        subject=w.words.count("A merchant is overdue", "{count} merchants are overdue", count),
        heading=w.words.count("A merchant is overdue", "{count} merchants are overdue", count),
        sentences=(
            say("They were reminded. The page of each merchant lists its reminders.")
            if w.facts.items[-1].tone
            else say("They were told, and are told again once a week."),
        ),
        items=tuple(
            LetterItem(
                write_name(fact.merchant),
                w.at(f"/console/merchants/{fact.merchant_code}"),
                (w.words.money(fact.amount, fact.currency),),
            )
            for fact in w.facts.items
        ),
        more=_more(w),
        button=LetterLink(say("Open the ledger"), w.at("/console/ledger")),
    )


def write_invoices_ready(w: Writing) -> Letter:
    say, count = w.words.say, w.facts.count
    if count == 1 and all(fact.is_credit for fact in w.facts.items):
        title = say("Your credit note is ready")
    else:
        title = w.words.count(
            "Your invoice is ready", "{count} invoices and credit notes are ready", count
        )
    return Letter(
        subject=title,
        heading=title,
        sentences=(
            w.words.count(
                "{operator} has issued it to {shop}. The PDF has the electronic invoice inside.",
                "{operator} has issued them to {shop}. Each PDF has the electronic invoice inside.",
                count,
                operator=w.terms.operator,
                shop=write_name(w.facts.shop),
            ),
        ),
        items=tuple(_about_document(w, fact) for fact in w.facts.items),
        more=_more(w),
        button=LetterLink(say("Open your invoices"), w.at("/invoices")),
    )


def _about_document(w: Writing, fact: NoticeFact) -> LetterItem:
    say = w.words.say
    title = (
        say("Credit note {number}", number=fact.number)
        if fact.is_credit
        else say("Invoice {number}", number=fact.number)
    )
    amount = w.words.money(fact.amount, fact.currency)
    return LetterItem(title, w.at(f"/invoices/{fact.number}/pdf"), (amount,))
