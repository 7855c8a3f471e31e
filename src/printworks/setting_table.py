"""The table of settings. The reference in `docs/operate/settings.md` is written from it.

It begins with those in `setting_places.py`.
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from printworks.setting_places import DeclaredPlaces
from printworks.setting_values import SECRET, Networks

Count = Annotated[int, Meta(ge=1, le=1_000_000_000)]


class DeclaredSettings(DeclaredPlaces, frozen=True, kw_only=True):
    """Everything an operator can change, with its default and what it is for."""

    low_credit_percent: Annotated[
        int,
        Meta(ge=0, le=100),
        "Of a merchant's credit limit, how much must be left: below, its people are told. "
        "`0` tells nobody.",
    ] = 10
    payment_terms: Annotated[
        timedelta,
        "How long merchants that pay on account have to pay; then its people and the operators "
        "are told, once a week or as `reminder_days` says.",
    ] = timedelta(days=30)
    reminder_days: Annotated[
        str,
        Meta(max_length=100),
        "How many days after the due date a merchant is reminded, each time more firmly, with commas "
        "between them, such as `3, 10, 21`; by default once a week in the same words. See "
        "[mail](mail.md#reminders).",
    ] = ""
    default_credit_limit: Annotated[
        int | None,
        Meta(ge=0, le=10**12),
        "The credit limit of new merchants, in pence or cents of their currency; by default they have none.",
    ] = None
    approve_above: Annotated[
        int | None,
        Meta(ge=0, le=10**12),
        "Above which amount, in pence or cents, a second operator must approve debits, credits, pay-outs "
        "and reversals; by default nobody has to.",
    ] = None
    confirm_above: Annotated[
        int | None,
        Meta(ge=0, le=10**12),
        "Above which amount, in pence or cents, an operator must type it again; by default never.",
    ] = None
    header_prefix: Annotated[str, "The prefix of the credential headers (`...MerchantId`)."] = (
        "X-Service-"
    )
    catalogue_name: Annotated[
        str, Meta(min_length=1, max_length=100), "The name of the catalogue."
    ] = "service direct"
    sunset: Annotated[
        str,
        Meta(max_length=10),
        "The day on which versions 2.3, 2.5 and 2.6 end, such as `2027-12-31`; "
        "their responses announce it.",
    ] = ""
    versions_off: Annotated[
        str,
        Meta(max_length=100),
        "Versions that have ended and answer 410, with commas between them, such as `2.3, 2.5`.",
    ] = ""
    catalogue: Annotated[
        Path | None, "The folder of your own catalogue, instead of the built-in one."
    ] = None
    lab_folder: Annotated[
        Path | None,
        "The folder with the hot folders of the labs; by default `labs` in the data folder.",
    ] = None
    lab_print_path: Annotated[
        str,
        Meta(max_length=100),
        "The path of a print file in the folder of its job, without its extension; "
        "see [labs](labs.md#where-the-print-files-lie).",
    ] = "prints/{image}-{copies}x"
    payments: Annotated[
        Literal["auto", "simulated", "account", "stripe"],
        "How merchants pay; `auto` is `simulated` in a sandbox, and a live "
        "service names one; see [payments](payments.md).",
    ] = "auto"
    stripe_secret_key: Annotated[
        str, SECRET, "The API key for Stripe: a test key in a sandbox, else a live key."
    ] = ""
    stripe_webhook_secret: Annotated[
        str, SECRET, "The signing secret of the webhook at Stripe."
    ] = ""
    stripe_url: Annotated[
        str,
        Meta(min_length=1, max_length=100),
        "The address of Stripe; another one is for tests, only in a sandbox.",
    ] = "https://api.stripe.com"
    balance_pays: Annotated[
        bool,
        "Whether what a merchant that pays by card has in its favour pays for its next order first; "
        "see [payments](payments.md#balances).",
    ] = True
    quote_keeps: Annotated[
        timedelta,
        "How long an order that is not submitted keeps the price that it was quoted; then it is "
        "calculated again when somebody looks at it.",
    ] = timedelta(days=2)
    payment_timeout: Annotated[timedelta, "How long to wait for a payment provider."] = timedelta(
        seconds=30
    )
    payment_answer_within: Annotated[
        timedelta,
        "How long a payment provider may stay without an answer; then the payment ends, and "
        "whatever was charged is refunded once the provider answers.",
    ] = timedelta(days=1)
    authorise_within: Annotated[
        timedelta, "How long a merchant has to authorise a payment if the bank asks for it."
    ] = timedelta(days=1)
    checkout_within: Annotated[
        timedelta, "How long a recipient has to pay; then the order goes back to the merchant."
    ] = timedelta(days=30)
    second_factor_for: Annotated[
        str,
        Meta(max_length=100),
        "Roles that must sign in with a second factor, with commas between them, such as "
        "`admin, support, production, viewer, owner`; an owner is one of a merchant's people.",
    ] = ""
    web_processes: Annotated[
        int, Meta(ge=1, le=256), "Web processes: one continues while another restarts."
    ] = 2
    web_bind_cores: Annotated[
        bool, "Bind the threads of each web process to one core (Linux); faster."
    ] = True
    web_threads: Annotated[int, Meta(ge=1, le=256), "Concurrent requests of each web process."] = 4
    web_queue: Annotated[Count, "Requests that may wait for a thread; more get 503."] = 256
    web_machines: Annotated[
        Count,
        "Machines with web processes that share the load: each grants its part of "
        "`merchant_rate`, `merchant_burst`, `stranger_rate` and `stranger_burst`.",
    ] = 1
    merchant_rate: Annotated[
        Count,
        "Requests a second that a merchant may send in the long run; more get 429. "
        "`merchant limits` gives a merchant its own; see [limits](limits.md).",
    ] = 50
    merchant_burst: Annotated[
        Count, "Requests that a merchant may send at once after it has sent none for a while."
    ] = 200
    merchant_in_work: Annotated[
        Count, "Requests of a merchant that are worked on at once; others wait for their turn."
    ] = 8
    merchant_queue: Annotated[
        Count, "Requests of a merchant that may wait for their turn; more get 429."
    ] = 256
    stranger_rate: Annotated[
        Count,
        "Requests a second without valid credentials, or for what does not exist, from one "
        "address (IPv6: from one /64 network) in the long run; more get 429.",
    ] = 10
    stranger_burst: Annotated[Count, "Such requests that may come at once."] = 100
    worker_slots: Annotated[
        int,
        Meta(ge=1, le=10_000),
        "Concurrent downloads of a worker, and concurrent callbacks; other jobs have slots in "
        "proportion, see [limits](limits.md#slow-hosts-and-jobs).",
    ] = 32
    hashing_slots: Annotated[
        int,
        Meta(ge=1, le=64),
        "Passwords that are hashed at the same time on a machine, at low priority; "
        "see [limits](limits.md#sign-in).",
    ] = 1
    worker_lease: Annotated[
        timedelta, "After how long without a sign of life the jobs of a worker go to another."
    ] = timedelta(seconds=30)
    body_timeout: Annotated[timedelta, "How long a request body may stall before it gets 408."] = (
        timedelta(seconds=10)
    )
    request_timeout: Annotated[timedelta, "How long a whole request body may take."] = timedelta(
        seconds=60
    )
    json_limit: Annotated[Count, "Largest JSON or form body, in bytes."] = 1_000_000
    upload_limit: Annotated[Count, "Largest body with a file, in bytes."] = 100_000_000
    image_limit: Annotated[Count, "Largest image to download, in bytes."] = 100_000_000
    upload_rate: Annotated[
        Count, "Fewest bytes a second of a body with a file; a slower one gets 408."
    ] = 5000
    open_uploads: Annotated[
        Count, "Files of one merchant that may arrive at the same time at each web process."
    ] = 16
    merchant_files: Annotated[
        int,
        Meta(ge=1, le=10**18),
        "Bytes that the files of one merchant may take; more are refused.",
    ] = 100_000_000_000
    disk_floor: Annotated[
        int,
        Meta(ge=0, le=10**15),
        "Bytes that stay free on the disks of data and files: below, no file is taken.",
    ] = 500_000_000
    order_images: Annotated[int, Meta(ge=1, le=10_000), "Images that one order may have."] = 1000
    mockups: Annotated[
        bool,
        "Whether images are drawn on their products, as pages and `mockupUrl` show them; see "
        "[images](images.md#mockups).",
    ] = True
    blurred_below_dpi: Annotated[
        int,
        Meta(ge=1, le=1200),
        "A picture with fewer pixels per inch of paper will look blurred: pages warn in red, and "
        "ask before the order is submitted.",
    ] = 70
    sharp_from_dpi: Annotated[
        int,
        Meta(ge=1, le=1200),
        "From here on a picture looks sharp; pages warn of one with fewer pixels per inch.",
    ] = 150
    list_images: Annotated[
        int,
        Meta(ge=500, le=1_000_000_000),
        "Images of one page of a list of orders; a page with more is cut, and says so.",
    ] = 20_000
    import_size: Annotated[
        int, Meta(ge=1000, le=50_000_000), "Largest CSV file of orders to import, in bytes."
    ] = 5_000_000
    import_rows: Annotated[
        int, Meta(ge=1, le=50_000), "Rows that a CSV file of orders may have."
    ] = 5000
    lot_orders: Annotated[
        int,
        Meta(ge=1, le=10_000),
        "Orders of a filter that a merchant may submit or cancel at once.",
    ] = 1000
    outbound_allow_networks: Annotated[
        Networks, "Private networks that images and callbacks may use."
    ] = ()
    callbacks_allow_http: Annotated[
        bool, "Let live callbacks go to http addresses, which anyone on the way can read."
    ] = False
    callback_challenge: Annotated[
        Literal["live", "always", "never"],
        "Whether the owner of a new callback address has to answer a challenge before it is used: "
        "in a live service, in a sandbox too, or nowhere; see "
        "[callbacks](callbacks.md#new-addresses).",
    ] = "live"
    proof_links_valid_for: Annotated[
        timedelta | None,
        "How long the links to proofs work, such as `7d`; by default they do not expire.",
    ] = None
    stop_timeout: Annotated[timedelta, "How long a stop waits for running requests and jobs."] = (
        timedelta(seconds=20)
    )
    drain_delay: Annotated[
        timedelta | None,
        "How long a web process that is told to stop still answers while `/readyz` says 503, such "
        "as `10s`, so that a load balancer can turn to others first; by default not at all. See "
        "[watching](watching.md#probes).",
    ] = None
    metrics_port: Annotated[
        int,
        Meta(ge=0, le=65535),
        "The port of `/metrics` for Prometheus; 0 for none. It has no password, so keep it out of "
        "reach of strangers. See [watching](watching.md#metrics).",
    ] = 0
    metrics_host: Annotated[str, "The address on which `metrics_port` listens."] = "127.0.0.1"
    traces_endpoint: Annotated[
        str,
        "Where to send traces by OTLP over HTTP, such as `http://127.0.0.1:4318/v1/traces`; needs "
        "`printworks[traces]`. See [watching](watching.md#traces).",
    ] = ""
    watchdog_url: Annotated[
        str,
        SECRET,
        "An address that is posted to once a minute while a worker is alive and everything that it "
        "needs is ready, for a service that calls you when that stops. See "
        "[watching](watching.md#watchdog).",
    ] = ""
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], "The lowest level that is logged."
    ] = "info"
    log_format: Annotated[
        Literal["auto", "console", "json"],
        "`auto` is `console` on a terminal and `json` elsewhere.",
    ] = "auto"
    keep_idempotency_keys: Annotated[
        timedelta, "How long the response to an `Idempotency-Key` is stored."
    ] = timedelta(days=30)
    keep_finished_jobs: Annotated[timedelta, "How long finished jobs are stored."] = timedelta(
        days=7
    )
    keep_callbacks: Annotated[timedelta, "How long the attempts of callbacks are stored."] = (
        timedelta(days=30)
    )
    keep_requests: Annotated[timedelta, "How long the request log of merchants is stored."] = (
        timedelta(days=7)
    )
    log_bodies: Annotated[
        Literal["refused", "never"],
        "Whether the request log has what was sent and answered, without personal data: for "
        "requests that were refused, or never.",
    ] = "refused"
    keep_lots: Annotated[
        timedelta, "How long files of orders and lists of orders are stored with their results."
    ] = timedelta(days=30)
    keep_mails: Annotated[
        timedelta, "How long the list of emails is stored, with the addresses they went to."
    ] = timedelta(days=30)
    keep_drafts: Annotated[
        timedelta,
        "How long an order may stay unchanged without being submitted; then it is cancelled.",
    ] = timedelta(days=90)
    keep_originals: Annotated[
        timedelta, "How long the pictures of an order are stored after it is complete or cancelled."
    ] = timedelta(days=90)
    keep_recipients: Annotated[
        timedelta | None,
        "How long the name, the address and the contact data of an order are stored after it is "
        "complete or cancelled, such as `730d`; by default they are not erased. See "
        "[privacy](privacy.md).",
    ] = None
    keep_proofs: Annotated[
        timedelta | None,
        "How long the previews, thumbnails and mockups of an order are stored after it is complete or "
        "cancelled, such as `365d`; by default they are not deleted.",
    ] = None
    keep_issue_photos: Annotated[
        timedelta, "How long the photos of an issue are stored after it is settled."
    ] = timedelta(days=90)
