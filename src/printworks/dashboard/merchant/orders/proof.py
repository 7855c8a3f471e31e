"""The proof of one image, large, with what is known about how it will be printed."""

from starlette.responses import Response

from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.store.orders.shipments import get_whole_order


@page_at("/orders/{id}/proofs/{image}")
def show_proof(visit: MerchantVisit) -> Response:
    """Show the proof of an image, with the way to the ones before and after it."""
    whole = get_whole_order(visit.db, visit.merchant.id, visit.number("id"))
    wanted = visit.number("image")
    places = {image.id: place for place, image in enumerate(whole.images)}
    if wanted not in places:
        refuse_unknown()
    place = places[wanted]
    ids = list(places)
    return visit.render(
        "merchant/proof.html",
        order=whole.order,
        image=describe_image(
            whole.images[place],
            whole.order,
            visit.services.catalogue,
            visit.links,
            visit.services.sharpness,
        ),
        place=place + 1,
        count=len(ids),
        before=ids[place - 1] if place else None,
        after=ids[place + 1] if place + 1 < len(ids) else None,
    )
