"""Letters about people's accounts: invitations, passwords and sign-ins."""

from printworks.mail.letter import Letter, LetterLink, Writing, write_name, write_timestamp
from printworks.rules.mail import LONGEST_NAME, name_browser, tidy_line


def write_merchant_invitation(w: Writing) -> Letter:
    say, operator = w.words.say, w.terms.operator
    return Letter(
        subject=say("Invitation to {operator}", operator=operator),
        heading=say("You are invited to {operator}", operator=operator),
        sentences=(
            say("Open a merchant account to place orders, see prices and create API keys."),
        ),
        button=LetterLink(say("Create your account"), w.terms.link),
        hints=_hint_at_link(w),
    )


def write_colleague_invitation(w: Writing) -> Letter:
    say, shop = w.words.say, write_name(w.facts.shop)
    return Letter(
        subject=say("Invitation to the dashboard of {shop}", shop=shop),
        heading=say("You are invited to the dashboard of {shop}", shop=shop),
        sentences=(
            say(
                "Choose a password, and you can see and place the orders of {shop} at {operator}.",
                shop=shop,
                operator=w.terms.operator,
            ),
        ),
        button=LetterLink(say("Accept the invitation"), w.terms.link),
        hints=_hint_at_link(w),
    )


def write_operator_invitation(w: Writing) -> Letter:
    say, operator = w.words.say, w.terms.operator
    return Letter(
        subject=say("Invitation to the console of {operator}", operator=operator),
        heading=say("You are invited to the console of {operator}", operator=operator),
        sentences=(say("Choose a password. Your role is: {role}.", role=w.facts.role),),
        button=LetterLink(say("Accept the invitation"), w.terms.link),
        hints=_hint_at_link(w),
    )


def _hint_at_link(w: Writing) -> tuple[str, ...]:
    say = w.words.say
    return (
        say("The link works once, until {time}.", time=write_timestamp(w, w.facts.until)),
        say("If you did not expect this invitation, ignore this email."),
    )


def write_password_reset(w: Writing) -> Letter:
    say = w.words.say
    return Letter(
        subject=say("Choose a new password"),
        heading=say("Choose a new password"),
        sentences=(
            say(
                "Somebody asked for a new password for your account at {operator}.",
                operator=w.terms.operator,
            ),
        ),
        button=LetterLink(say("Choose a password"), w.terms.link),
        hints=(
            say("The link works once, until {time}.", time=write_timestamp(w, w.facts.until)),
            say("It signs you out everywhere else."),
            say("If that was not you, ignore this email: your password stays as it is."),
        ),
    )


def write_password_changed(w: Writing) -> Letter:
    say = w.words.say
    return Letter(
        subject=say("Your password was changed"),
        heading=say("Your password was changed"),
        sentences=(
            say(
                "The password of your account at {operator} was changed. You were signed out "
                "everywhere else.",
                operator=w.terms.operator,
            ),
            say("If that was not you, ask for a new password now and check your settings."),
        ),
        facts=_where(w),
        button=LetterLink(say("Sign in"), w.at(_sign_in_path(w))),
    )


def write_new_device(w: Writing) -> Letter:
    say = w.words.say
    return Letter(
        subject=say("New sign-in to your account"),
        heading=say("New sign-in to your account"),
        sentences=(
            say(
                "Somebody signed in to your account at {operator} with a browser that we have not "
                "seen before.",
                operator=w.terms.operator,
            ),
            say("If it was you, there is nothing to do."),
            say("If not, change your password now: that signs out everybody else."),
        ),
        facts=_where(w),
        button=LetterLink(say("Check your sessions"), w.at(_settings_path(w))),
    )


def _where(w: Writing) -> tuple[tuple[str, str], ...]:
    say = w.words.say
    known = (
        (say("When"), write_timestamp(w, w.facts.at)),
        (say("Browser"), name_browser(w.facts.browser)),
        (say("Network address"), tidy_line(w.facts.address, LONGEST_NAME)),
    )
    return tuple((label, text) for label, text in known if text)


def _sign_in_path(w: Writing) -> str:
    return "/console/sign-in" if w.facts.role else "/sign-in"


def _settings_path(w: Writing) -> str:
    return "/console/settings" if w.facts.role else "/settings"


def write_test(w: Writing) -> Letter:
    say = w.words.say
    return Letter(
        subject=say("Test email from {operator}", operator=w.terms.operator),
        heading=say("Mail works"),
        sentences=(
            say("This email was sent to see whether the mail settings are right. They are."),
        ),
    )
