"""Passkeys (WebAuthn): what a browser is asked to sign, and whether it did.

The challenge is made of a random number, a time and a signature of ours that ties it to one
browser, so that showing a page stores nothing. It is stored once it was used.

The library is imported by those who add or use a passkey: it takes 8 MB, and few processes see one.
"""

import base64
import binascii
import struct
from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from secrets import token_hex
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.services import PageServices
from printworks.errors import BadInput
from printworks.rules.people import Realm
from printworks.store.accounts.passkeys import NewPasskey, Passkey, find_passkey
from printworks.store.accounts.people import Person, get_person

CHALLENGE_LASTS: Final = timedelta(minutes=10)
_LARGEST: Final = 20_000
REFUSED: Final = "The passkey was not accepted. Try again, or sign in with your password instead."
_NOT_ADDED: Final = "The passkey could not be added. Try again with this or another device."
_TOO_LATE: Final = "The page was open for too long. Try again."
# What the library and those below it raise for what nobody's authenticator sends.
_MALFORMED: Final = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    struct.error,
)


class UsedPasskey(NamedTuple):
    """A passkey that has signed, and what: to be stored when its owner is let in."""

    person: Person
    passkey: Passkey
    sign_count: int
    challenge: str
    expires_at: datetime


class _ClientData(msgspec.Struct):
    challenge: str


class _Response(msgspec.Struct):
    clientDataJSON: str  # noqa: N815  (spelled as browsers send it)


class _Credential(msgspec.Struct):
    id: str
    response: _Response


_read_client_data = msgspec.json.Decoder(_ClientData).decode
_read_credential = msgspec.json.Decoder(_Credential).decode


class Passkeys:
    """Asks browsers for passkeys and checks what they send."""

    def __init__(self, services: PageServices) -> None:
        self._services = services

    def ask_to_sign(self, whose: str) -> str:
        """Return what the browser is asked to sign in with, in JSON; `whose` is the browser."""
        # Without the library: every page to sign in asks for this.
        challenge = base64.urlsafe_b64encode(self._make_challenge(whose).encode())
        options = {
            "challenge": challenge.decode().rstrip("="),
            "timeout": _milliseconds(CHALLENGE_LASTS),
            "rpId": self._host,
            "allowCredentials": (),
            "userVerification": "required",
        }
        return msgspec.json.encode(options).decode()

    def ask_to_register(self, whose: str, person: Person, known: list[Passkey]) -> str:
        """Return for what the browser is asked to make a passkey, in JSON."""
        import webauthn
        from webauthn.helpers.structs import (
            AuthenticatorSelectionCriteria,
            PublicKeyCredentialDescriptor,
            ResidentKeyRequirement,
            UserVerificationRequirement,
        )

        options = webauthn.generate_registration_options(
            rp_id=self._host,
            rp_name=find_brand().name,
            user_name=person.email,
            user_id=self._handle_of(person.id),
            challenge=self._make_challenge(whose).encode(),
            timeout=_milliseconds(CHALLENGE_LASTS),
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=[
                PublicKeyCredentialDescriptor(id=_from_base64url(passkey.credential))
                for passkey in known
            ],
        )
        return webauthn.options_to_json(options)

    def read_registration(self, whose: str, sent: str, name: str) -> NewPasskey:
        """Return the passkey that a browser has made; refuse anything else."""
        import webauthn
        from webauthn.helpers.exceptions import WebAuthnException

        _, challenge = _read(sent, _NOT_ADDED)
        self._check_challenge(whose, challenge)
        try:
            verified = webauthn.verify_registration_response(
                credential=sent,
                expected_challenge=challenge.encode(),
                expected_rp_id=self._host,
                expected_origin=self._origin,
                require_user_verification=True,
            )
        except (WebAuthnException, *_MALFORMED) as error:
            raise BadInput(_NOT_ADDED) from error
        return NewPasskey(
            credential=webauthn.helpers.bytes_to_base64url(verified.credential_id),
            public_key=verified.credential_public_key,
            sign_count=verified.sign_count,
            name=name,
        )

    def read_sign_in(self, realm: Realm, whose: str, sent: str) -> UsedPasskey:
        """Return whose passkey has signed; refuse anything else."""
        import webauthn
        from webauthn.helpers.exceptions import WebAuthnException

        credential, challenge = _read(sent, REFUSED)
        expires_at = self._check_challenge(whose, challenge)
        with self._services.database.reading() as db:
            passkey = find_passkey(db, realm, credential.id)
            if passkey is None:
                raise BadInput(REFUSED)
            person = get_person(db, passkey.person_id)
        try:
            verified = webauthn.verify_authentication_response(
                credential=sent,
                expected_challenge=challenge.encode(),
                expected_rp_id=self._host,
                expected_origin=self._origin,
                credential_public_key=passkey.public_key,
                credential_current_sign_count=passkey.sign_count,
                require_user_verification=True,
            )
        except (WebAuthnException, *_MALFORMED) as error:
            raise BadInput(REFUSED) from error
        return UsedPasskey(person, passkey, verified.new_sign_count, challenge, expires_at)

    def _make_challenge(self, whose: str) -> str:
        number = token_hex(16)
        expires = int((self._services.clock() + CHALLENGE_LASTS).timestamp())
        return f"{number}.{expires}.{self._sign(whose, number, expires)}"

    def _check_challenge(self, whose: str, challenge: str) -> datetime:
        """Refuse a challenge that is not ours, not this browser's or too old."""
        number, _, rest = challenge.partition(".")
        expires, _, signature = rest.partition(".")
        is_ours = (
            challenge.isascii()
            and expires.isdigit()
            and len(expires) < 12
            and compare_digest(signature, self._sign(whose, number, int(expires)))
        )
        expires_at = datetime.fromtimestamp(int(expires), UTC) if is_ours else None
        if expires_at is None or expires_at <= self._services.clock():
            raise BadInput(_TOO_LATE)
        return expires_at

    def _sign(self, whose: str, number: str, expires: int) -> str:
        return self._services.forms.make_token(f"challenge {whose} {number} {expires}")

    def _handle_of(self, person_id: int) -> bytes:
        """Return what an authenticator knows a person by: it says nothing to anyone else."""
        return bytes.fromhex(self._services.forms.make_token(f"passkey of {person_id}"))

    @property
    def _host(self) -> str:
        return urlsplit(self._services.settings.public_url).hostname or ""

    @property
    def _origin(self) -> str:
        parts = urlsplit(self._services.settings.public_url)
        return f"{parts.scheme}://{parts.netloc}"


def _read(sent: str, refusal: str) -> tuple[_Credential, str]:
    """Return what a browser has sent, with the challenge that it says it has signed."""
    if len(sent) > _LARGEST:
        raise BadInput(refusal)
    try:
        credential = _read_credential(sent)
        data = credential.response.clientDataJSON
        client_data = _read_client_data(_from_base64url(data))
        return credential, _from_base64url(client_data.challenge).decode()
    except (msgspec.DecodeError, binascii.Error, ValueError) as error:
        raise BadInput(refusal) from error


def _from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _milliseconds(time: timedelta) -> int:
    return time // timedelta(milliseconds=1)
