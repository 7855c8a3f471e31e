"""What is promised to recipients: within how many days a parcel arrives."""

import msgspec

from printworks.rules.orders import ShippingMethod


class Promise(msgspec.Struct, frozen=True):
    """The latest arrival that counts as met, for a method and a part of the world.

    Days are Monday to Friday, from the day after submission. Weekends are left out because hardly
    any lab or carrier works then; public holidays are not, because those of the lab, of the
    carrier and of the recipient differ, and the recipient knows only one of the three.
    """

    method: ShippingMethod
    # A country, a group or everywhere: what made this promise the one that counts.
    to: str
    days: int
