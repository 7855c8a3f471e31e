"""The pages of a merchant."""

from typing import Final

from printworks.dashboard.auth.security import security_page
from printworks.dashboard.merchant.account import account, business, card, invoices, shop
from printworks.dashboard.merchant.catalogue import catalogue
from printworks.dashboard.merchant.home import home, news
from printworks.dashboard.merchant.integrations import callback, integrations, keys, requests
from printworks.dashboard.merchant.issues import issues, new_issue
from printworks.dashboard.merchant.lots import exporting, importing, lots
from printworks.dashboard.merchant.mail import mail_settings, mails
from printworks.dashboard.merchant.orders import (
    address,
    again,
    image,
    images,
    new_order,
    order,
    orders,
    proof,
)
from printworks.dashboard.merchant.sandbox import sandbox
from printworks.dashboard.merchant.team import team
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import MerchantVisit

PAGES: Final[tuple[Page[MerchantVisit], ...]] = (
    home.show_home,
    news.show_news,
    # Before those of an order, which would take `new` or `import` for a number.
    new_order.show_new_order,
    importing.show_import,
    importing.download_template,
    exporting.export_orders,
    lots.show_lot,
    lots.download_corrections,
    images.show_images,
    image.show_image,
    image.show_original,
    orders.show_orders,
    order.show_order,
    address.show_address,
    again.show_again,
    proof.show_proof,
    sandbox.show_sandbox,
    integrations.show_integrations,
    callback.show_callback,
    keys.show_keys,
    requests.show_requests,
    requests.show_request,
    catalogue.show_catalogue,
    catalogue.show_product,
    account.show_account,
    card.show_card,
    business.show_business,
    account.download_statement,
    invoices.show_invoices,
    # Before those of one, which would take `all.csv` for a number.
    invoices.download_invoices,
    invoices.download_invoice,
    issues.show_issues,
    new_issue.show_new_issue,
    issues.show_issue,
    issues.show_photo,
    # Before those of a mail, which would take `settings` for a number.
    mail_settings.show_mail_settings,
    mails.show_mails,
    mails.show_mail,
    team.show_team,
    shop.show_shop,
    shop.show_slip_example,
    security_page("/settings"),
)
