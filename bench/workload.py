"""What is sent and stored, the same for all servers."""

from pathlib import Path
from typing import Any, Final

# One merchant sends all that the machine can answer: what is measured is the service, not what it
# grants to one merchant. The part `fairness` measures that.
# The databases are filled here and opened by servers with data folders of their own.
USUAL_SETTINGS: Final = {
    "PRINTWORKS_SECRET_KEY_FILE": str(Path(__file__).parents[1] / "tests" / "secret.key"),
    "PRINTWORKS_MERCHANT_RATE": "1000000",
    "PRINTWORKS_MERCHANT_BURST": "1000000",
    "PRINTWORKS_MERCHANT_IN_WORK": "1000",
    "PRINTWORKS_MERCHANT_QUEUE": "10000",
}

ORDER_BODY: Final = {
    "merchantOrderId": "web-48213",
    "recipientName": "A Recipient",
    "address1": "1 Sample Street",
    "address2": "Flat 2",
    "addressTownOrCity": "Sampletown",
    "stateOrCounty": "Sampleshire",
    "postalOrZipCode": "SA1 1AA",
    "countryCode": "GB",
    "mobileTelephone": "01234567890",
    "preferredShippingMethod": "Standard",
    "payment": "InvoiceMe",
}
SUBMIT_BODY: Final = {"status": "Submitted"}

PHOTO: Final = "GLOBAL-PHO-4X6-PRO"
MUG: Final = "MUG-10OZ-WHITE"
# Three images that travel in two shipments.
THREE: Final = (PHOTO, PHOTO, MUG)
URL: Final = "https://shop.example/sunset.jpg"
IMAGE_BODY: Final[dict[str, Any]] = {"sku": PHOTO, "url": URL, "copies": 1, "sizing": "Crop"}

# The edges of a preview and of a thumbnail, in pixels.
PREVIEW_EDGE: Final = 1200
THUMBNAIL_EDGE: Final = 240
