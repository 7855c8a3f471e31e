"""All tables: a file for each noun, with the reason for each index."""

from printworks.store.tables.approvals import approvals
from printworks.store.tables.base import metadata
from printworks.store.tables.brand import brand
from printworks.store.tables.callbacks import callback_attempts, callbacks
from printworks.store.tables.cards import card_setups, saved_cards
from printworks.store.tables.catalogue import (
    catalogue_files,
    catalogue_pictures,
    catalogue_versions,
    product_pictures,
)
from printworks.store.tables.figures import daily_figures, hourly_figures
from printworks.store.tables.forms import kept_forms, sent_forms
from printworks.store.tables.idempotency import idempotency_keys
from printworks.store.tables.images import (
    downloads,
    images,
    merchant_files,
    packing_slips,
    pictures,
)
from printworks.store.tables.invoices import invoice_causes, invoice_counters, invoices
from printworks.store.tables.issues import issue_photos, issue_remarks, issues
from printworks.store.tables.jobs import heartbeats, jobs
from printworks.store.tables.lab_costs import lab_costs, lab_debts, lab_payments
from printworks.store.tables.ledger import ledger_days, ledger_entries, verifications
from printworks.store.tables.lots import lot_lines, lots
from printworks.store.tables.mail import mail_choices, mail_refusals, mails, notices
from printworks.store.tables.merchants import api_keys, merchants
from printworks.store.tables.news import news
from printworks.store.tables.orders import order_events, orders
from printworks.store.tables.payments import payment_requests, simulated_charges
from printworks.store.tables.people import (
    audit_log,
    invitations,
    passkeys,
    people,
    recovery_codes,
    sessions,
    sign_in_tries,
    used_challenges,
)
from printworks.store.tables.prices import (
    merchant_groups,
    price_book,
    price_list_changes,
    price_lists,
)
from printworks.store.tables.privacy import erasures, sweeps
from printworks.store.tables.reminders import reminders
from printworks.store.tables.requests import api_requests
from printworks.store.tables.sales import sales, sales_days
from printworks.store.tables.secrets import secrets
from printworks.store.tables.sellers import businesses, sellers
from printworks.store.tables.shipments import plans, shipments
from printworks.store.tables.shops import shops

__all__ = [
    "api_keys",
    "api_requests",
    "approvals",
    "audit_log",
    "brand",
    "businesses",
    "callback_attempts",
    "callbacks",
    "card_setups",
    "catalogue_files",
    "catalogue_pictures",
    "catalogue_versions",
    "daily_figures",
    "downloads",
    "erasures",
    "heartbeats",
    "hourly_figures",
    "idempotency_keys",
    "images",
    "invitations",
    "invoice_causes",
    "invoice_counters",
    "invoices",
    "issue_photos",
    "issue_remarks",
    "issues",
    "jobs",
    "kept_forms",
    "lab_costs",
    "lab_debts",
    "lab_payments",
    "ledger_days",
    "ledger_entries",
    "lot_lines",
    "lots",
    "mail_choices",
    "mail_refusals",
    "mails",
    "merchant_files",
    "merchant_groups",
    "merchants",
    "metadata",
    "news",
    "notices",
    "order_events",
    "orders",
    "packing_slips",
    "passkeys",
    "payment_requests",
    "people",
    "pictures",
    "plans",
    "price_book",
    "price_list_changes",
    "price_lists",
    "product_pictures",
    "recovery_codes",
    "reminders",
    "sales",
    "sales_days",
    "saved_cards",
    "secrets",
    "sellers",
    "sent_forms",
    "sessions",
    "shipments",
    "shops",
    "sign_in_tries",
    "simulated_charges",
    "sweeps",
    "used_challenges",
    "verifications",
]
