"""What a shop that was written for 2.x sends, and what it sees."""

from typing import Any, Final
from urllib.parse import urlencode

from tests.api.client import Client
from tests.running import Answer

URL: Final = "https://shop.example/sunset.jpg"
ADDRESS: Final = {
    "address1": "1 High Street",
    "addressTownOrCity": "London",
    "postalOrZipCode": "SW1A 1AA",
}
BOUNDARY: Final = "XX"


def an_order(**members: Any) -> dict[str, Any]:
    """Say what makes a valid order."""
    return {
        "recipientName": "Mary Fox",
        "destinationCountryCode": "GB",
        "countryCode": "GB",
        "payment": "InvoiceMe",
        "qualityLevel": "Pro",
        **members,
    }


def a_photo(**members: Any) -> dict[str, Any]:
    """Say what makes a valid photo."""
    return {"type": "4x6", "url": URL, "copies": 1, "sizing": "Crop", **members}


def seen(answer: Answer) -> Any:
    """Return what a successful answer shows."""
    assert answer.status == 200, answer.body
    return answer.json()


def create(client: Client, **members: Any) -> int:
    """Create an order with an address; return its id."""
    return int(seen(client.post("/Orders", an_order(**ADDRESS | members)))["id"])


def see(client: Client, order_id: int) -> dict[str, Any]:
    """Return an order."""
    order: dict[str, Any] = seen(client.get(f"/Orders/{order_id}"))
    return order


def add(client: Client, order_id: int, **members: Any) -> dict[str, Any]:
    """Add a photo and return it."""
    photo: dict[str, Any] = seen(client.post(f"/Orders/{order_id}/Photos/", a_photo(**members)))
    return photo


def set_status(client: Client, order_id: int, status: str) -> Answer:
    """Ask for another status."""
    return client.post(f"/Orders/{order_id}/Status", {"status": status})


def submit(client: Client, **members: Any) -> int:
    """Create an order for a print, submit it, and return its id."""
    order_id = create(client, **members)
    add(client, order_id)
    assert set_status(client, order_id, "Submitted").status == 200
    return order_id


def put_in_query(client: Client, path: str, **fields: str) -> Answer:
    """Send the fields of a PUT in its query string, with an empty body."""
    return client.request("PUT", f"{path}?{urlencode(fields)}")


def upload(
    client: Client, order_id: int, file: bytes, *, part: str = "file", **fields: str
) -> Answer:
    """Add a photo with its file."""
    fields = {"type": "4x6", "copies": "1", **fields}
    return _send_file(client, f"POST /Orders/{order_id}/Photos/", file, part, fields)


def fill(client: Client, path: str, file: bytes) -> Answer:
    """Add the file of a photo that lacks it."""
    return _send_file(client, f"PUT {path}", file, "file", {})


def _send_file(
    client: Client, endpoint: str, file: bytes, part: str, fields: dict[str, str]
) -> Answer:
    method, path = endpoint.split()
    pieces = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{part}"; filename="Caf\xe9.jpg"\r\n'
        "Content-Type: image/jpeg\r\n\r\n"
    )
    # Names of files are written as the system of the client writes them.
    body = b"".join([*pieces, head.encode("latin-1"), file, f"\r\n--{BOUNDARY}--\r\n".encode()])
    content_type = f"multipart/form-data; boundary={BOUNDARY}"
    return client.request(method, path, body, {"Content-Type": content_type})
