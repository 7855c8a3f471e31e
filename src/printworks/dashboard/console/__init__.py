"""The pages of the operator."""

from typing import Final

from printworks.dashboard.auth.security import security_page
from printworks.dashboard.console import approvals, invoices, lab_costs, ledger, reports
from printworks.dashboard.console.accounts import audit, lifecycle, merchants, people
from printworks.dashboard.console.brand import brand
from printworks.dashboard.console.catalogue import catalogue, routing, versions
from printworks.dashboard.console.drafts import basics, pages, prices
from printworks.dashboard.console.issues import issues
from printworks.dashboard.console.mail import mail_settings, mails
from printworks.dashboard.console.orders import on_behalf, order, orders
from printworks.dashboard.console.overview import overview
from printworks.dashboard.console.price_lists import price_lists
from printworks.dashboard.console.privacy import privacy
from printworks.dashboard.console.production import job_sheet, production, shipments
from printworks.dashboard.console.seller import show_seller
from printworks.dashboard.console.system import health, jobs, quarantine
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import ConsoleVisit

PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    overview.show_overview,
    production.show_production,
    shipments.show_shipment,
    job_sheet.show_sheet,
    job_sheet.show_slip,
    job_sheet.show_print,
    orders.show_orders,
    order.show_order,
    on_behalf.show_address,
    on_behalf.show_image,
    issues.show_queue,
    issues.show_issue,
    issues.show_photo,
    merchants.show_merchants,
    merchants.show_merchant,
    lifecycle.show_account,
    catalogue.show_catalogue,
    catalogue.show_product,
    catalogue.show_labs,
    catalogue.show_lab,
    routing.show_routing,
    versions.show_versions,
    versions.show_version,
    pages.show_draft,
    basics.show_basics,
    prices.show_prices,
    prices.download_prices,
    pages.show_new,
    pages.show_part,
    pages.show_entry,
    price_lists.show_lists,
    price_lists.show_list,
    price_lists.download_lines,
    ledger.show_ledger,
    invoices.show_invoices,
    invoices.download_invoices,
    invoices.download_invoice,
    lab_costs.show_lab_costs,
    reports.show_reports,
    reports.download_report,
    approvals.show_approvals,
    approvals.show_money,
    privacy.show_privacy,
    privacy.show_receipt,
    jobs.show_jobs,
    jobs.show_job,
    mail_settings.show_mail_settings,
    mails.show_mails,
    mails.show_mail,
    health.show_health,
    quarantine.show_quarantine,
    brand.show_brand,
    show_seller,
    people.show_people,
    people.show_person,
    audit.show_audit,
    security_page("/console/settings"),
)
