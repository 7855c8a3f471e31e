"""What a merchant's callbacks come to in tests of the pages, without a worker."""

from datetime import timedelta
from typing import Any, Final

from printworks.actions.callbacks import set_callback
from printworks.rules.events import CallbackState
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import Merchant
from printworks.store.callbacks.callbacks import Attempt, list_callbacks
from printworks.store.callbacks.deliveries import DeliveryOutcome, load_deliveries, write_outcomes
from printworks.store.engine.database import Database
from tests.dashboard.windows import Window, merchant_of
from tests.factories import NOON, a_work

URL: Final = "https://shop.example/callbacks?shop=7"


def see_merchant(database: Database, window: Window) -> Merchant:
    """Return whose window it is, as it is now."""
    with database.reading() as db:
        return merchant_of(db, window)


def listen(database: Database, window: Window) -> None:
    """Let callbacks go somewhere, without a form."""
    with database.writing() as db:
        set_callback(a_work(db, merchant_of(db, window)), URL)


def last_callback(database: Database, window: Window) -> int:
    """Return the id of a merchant's newest callback."""
    with database.reading() as db:
        return list_callbacks(db, merchant_of(db, window).id, limit=1)[0].id


def try_once(
    database: Database, callback_id: int, status: int | None, state: CallbackState, **facts: Any
) -> None:
    """Say how a try went, as the worker does."""
    with database.writing() as db:
        delivery = load_deliveries(db, [callback_id])[callback_id]
        attempt = Attempt(
            number=delivery.attempts + 1,
            at=NOON,
            url=URL,
            status=status,
            milliseconds=12,
            **{"answer": "", "error": None, **facts},
        )
        wait = timedelta(minutes=1) if state is CallbackState.PENDING else None
        tried = DeliveryOutcome(delivery=delivery, state=state, attempt=attempt, retry_in=wait)
        write_outcomes(db, [tried], now=NOON)


def skip(database: Database, callback_id: int) -> None:
    """Say that a callback would have told nothing new, as the worker does."""
    with database.writing() as db:
        delivery = load_deliveries(db, [callback_id])[callback_id]
        skipped = DeliveryOutcome(delivery=delivery, state=CallbackState.SKIPPED)
        write_outcomes(db, [skipped], now=NOON)


def did(database: Database) -> list[tuple[str, str]]:
    """Return what was audited, oldest first."""
    with database.reading() as db:
        return [(entry.action, entry.subject) for entry in list_audit(db, limit=50)][::-1]
