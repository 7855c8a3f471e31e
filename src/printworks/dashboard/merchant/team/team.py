"""The team of a merchant: invite a colleague, change a role, remove somebody."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from printworks.actions.accounts.people import invite_colleague, withdraw
from printworks.actions.accounts.team import change_team_role, remove_from_team
from printworks.dashboard.shared.invitation_links import FreshLink, is_mailed, make_link
from printworks.dashboard.site.forms import at_field, read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.rules.people import TEAM, Duty, Realm, Role
from printworks.store.accounts.invitations import list_open_invitations
from printworks.store.accounts.passkeys import count_passkeys_of
from printworks.store.accounts.people import Person, find_last_visits, list_people

ROLE_NAMES: Final[Mapping[Role, str]] = {
    Role.OWNER: "Owner",
    Role.MEMBER: "Member",
    Role.FINANCE: "Finance",
    Role.VIEWER: "Viewer",
}
# What each role is for.
_ROLE_TEXTS: Final[Mapping[Role, str]] = {
    Role.OWNER: "Does everything: orders, account, keys, callbacks, settings and the team.",
    Role.MEMBER: "Makes and submits orders and answers issues. Does not see the account.",
    Role.FINANCE: "Sees everything, with the account and its statements. Orders nothing.",
    Role.VIEWER: "Sees orders and issues, and changes nothing.",
}


@page_at("/team", forms=Duty.MANAGE)
def show_team(visit: MerchantVisit, link: FreshLink | None = None) -> Response:
    """Show who may sign in, who was invited, and what each role may do."""
    merchant_id, may_manage = visit.merchant.id, visit.may(Duty.MANAGE)
    team = list_people(visit.db, Realm.MERCHANT, merchant_id=merchant_id)
    return visit.render(
        "merchant/team.html",
        team=team,
        chosen=_find_chosen(visit, team) if may_manage and link is None else None,
        is_only_owner=[one.role for one in team].count(Role.OWNER) == 1,
        passkey_counts=count_passkeys_of(visit.db, team),
        last_visits=find_last_visits(visit.db, Realm.MERCHANT, merchant_id=merchant_id),
        invitations=(
            list_open_invitations(
                visit.db, Realm.MERCHANT, merchant_id=merchant_id, now=visit.real_now
            )
            if may_manage
            else []
        ),
        may_manage=may_manage,
        roles=[(str(role), ROLE_NAMES[role]) for role in TEAM],
        names=ROLE_NAMES,
        meanings=_ROLE_TEXTS,
        link=link,
    )


def _find_chosen(visit: MerchantVisit, team: list[Person]) -> Person | None:
    """Return the colleague whose role is to be changed, or who is to be removed."""
    wanted = visit.sent.text("person") or visit.query.get("change", "")
    return next((person for person in team if str(person.id) == wanted), None)


@show_team.action("invite-to-team", needs_password=True)
def invite(visit: MerchantVisit) -> Response:
    """Invite a colleague by mail, or show the link once."""
    email = visit.sent.text("email")
    role = _read_role(visit)
    with at_field("email"):
        token = invite_colleague(visit.work, email, role, by_mail=is_mailed(visit))
    return show_team(visit, make_link(visit, email, token))


@show_team.action("withdraw-team-invitation", "The invitation was withdrawn.")
def withdraw_one(visit: MerchantVisit) -> None:
    withdraw(visit.work, Realm.MERCHANT, visit.sent.text("invitation"))


@show_team.action("change-team-role", "The role was changed.", needs_password=True)
def give_role(visit: MerchantVisit) -> None:
    change_team_role(visit.work, _read_person(visit), _read_role(visit))


@show_team.action(
    "remove-from-team",
    "They can no longer sign in, and were signed out everywhere.",
    needs_password=True,
)
def remove(visit: MerchantVisit) -> None:
    remove_from_team(visit.work, _read_person(visit))


def _read_person(visit: MerchantVisit) -> int:
    person_id = visit.sent.number("person")
    return refuse_unknown() if person_id is None else person_id


def _read_role(visit: MerchantVisit) -> Role:
    return read_choice(Role, visit.sent.text("role"), "Choose one of the roles.", field="role")
