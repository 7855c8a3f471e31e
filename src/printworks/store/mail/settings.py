"""How a merchant, its people and its recipients are written to."""

from typing import Final

import msgspec
from sqlalchemy import Connection, select, update

from printworks.rules.languages import Language
from printworks.store.engine.rows import columns_of, get_struct
from printworks.store.tables import merchants


class MailSettings(msgspec.Struct, frozen=True):
    """What a merchant has chosen about mail."""

    # None is the operator's language.
    language: Language | None = None
    # Whether recipients are told that their parcel was sent.
    writes_to_recipients: bool = False
    # None is the language of their country.
    recipient_language: Language | None = None
    # Where answers of recipients go; empty is where answers to the operator go.
    recipient_reply_to: str = ""


_COLUMNS: Final = columns_of(merchants, MailSettings)


def read_mail_settings(db: Connection, merchant_id: int) -> MailSettings:
    wanted = select(*_COLUMNS).where(merchants.c.id == merchant_id)
    return get_struct(db, MailSettings, wanted, missing="There is no such merchant.")


def write_mail_settings(db: Connection, merchant_id: int, settings: MailSettings) -> None:
    values = msgspec.structs.asdict(settings)
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(**values))
