"""The order that is sent and stored, the same for all servers."""

from typing import Final

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
