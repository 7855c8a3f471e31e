"""`printworks ledger`: what merchants owe, and whether all of it adds up."""

from typing import Annotated

import typer

from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)

app = typer.Typer(help="The ledger: verify it, read it, add to it.", no_args_is_help=True)

MerchantId = Annotated[str, typer.Argument(help="The merchant's id.")]
Amount = Annotated[int, typer.Argument(min=1, max=10**12, help="In pence or cents.")]
Memo = Annotated[str, typer.Option(help="What it is for, in a few words.")]
Key = Annotated[
    str | None, typer.Option(help="The same key is posted once, such as a bank's reference.")
]


@app.command()
def verify(context: typer.Context, *, data: Data = None, json: Json = False) -> None:
    """Recompute everything from the beginning; ends with 1 if something does not add up."""
    from printworks.actions.payments.ledger import verify_ledgers

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        verified = verify_ledgers(db)
    found = [
        {
            "merchant": one.merchant.code,
            "fault": one.fault.kind,
            "sentence": one.fault.sentence,
        }
        for one in verified.faults
    ]
    merchants, entries = verified.merchants, verified.entries
    if json:
        print_json({"merchants": merchants, "entries": entries, "faults": found})
    else:
        for fault in found:
            make_console().print(f"{fault['merchant']}  {fault['sentence']}")
        verdict = f"{len(found)} faults" if found else "everything adds up"
        make_console().print(f"{merchants} merchants, {entries} entries: {verdict}.")
    if found:
        raise typer.Exit(1)


@app.command()
def statement(
    context: typer.Context, merchant_id: MerchantId, *, data: Data = None, json: Json = False
) -> None:
    """List what was charged, refunded, credited and paid, and what is owed."""
    from rich.table import Table

    from printworks.store.accounts.merchants import get_merchant_by_code
    from printworks.store.money.ledger import list_entries

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        entries = [booked.entry for booked in list_entries(db, merchant.id)]
    if json:
        print_json(entries)
        return
    table = Table("number", "when", "what", "order", "amount", "owed", "memo", box=None)
    owed = 0
    for entry in entries:
        owed += entry.owed
        table.add_row(
            str(entry.number),
            f"{entry.created_at:%Y-%m-%d %H:%M}",
            entry.kind,
            str(entry.order_id or ""),
            _money(entry.owed, entry.currency),
            _money(owed, entry.currency),
            entry.memo,
        )
    make_console().print(table if entries else "Nothing has been charged yet.")


@app.command()
def credit(
    context: typer.Context,
    merchant_id: MerchantId,
    amount: Amount,
    *,
    memo: Memo,
    key: Key = None,
    data: Data = None,
) -> None:
    """Give a merchant something back, to make up for something."""
    from printworks.rules.ledger import EntryKind

    _post(context, merchant_id, EntryKind.CREDIT, amount, memo, key, data)


@app.command()
def payment(
    context: typer.Context,
    merchant_id: MerchantId,
    amount: Amount,
    *,
    memo: Memo,
    key: Key = None,
    data: Data = None,
) -> None:
    """Write down that a merchant has paid."""
    from printworks.rules.ledger import EntryKind

    _post(context, merchant_id, EntryKind.PAYMENT, amount, memo, key, data)


def _post(
    context: typer.Context,
    merchant_id: str,
    kind: str,
    amount: int,
    memo: str,
    key: str | None,
    data: Data,
) -> None:
    import secrets

    from printworks.clock import system_clock
    from printworks.rules.ledger import EntryKind
    from printworks.store.accounts.merchants import get_merchant_by_code
    from printworks.store.money.ledger import post_entry, read_books

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        entry = post_entry(
            db,
            merchant.id,
            key=f"{kind}-{key or secrets.token_hex(8)}",
            kind=EntryKind(kind),
            amount=amount,
            currency=merchant.currency,
            memo=memo,
            now=system_clock(),
        )
        books = read_books(db, merchant.id)
    owed = _money(books.balance, merchant.currency)
    if entry is None:
        make_console().print(f"That was posted before; {merchant.code} owes {owed}.")
        return
    make_console().print(f"Posted as entry {entry.number}; {merchant.code} owes {owed}.")


def _money(amount: int, currency: str) -> str:
    return f"{amount / 100:,.2f} {currency}"
