"""What the core calls an image is a photo to programs of the older versions."""

import pytest

from printworks.wire.v2.words import say_in_words


@pytest.mark.parametrize(
    ("core", "older"),
    [
        ("The image is Ok.", "The photo is Ok."),
        ("Images cannot be added.", "Photos cannot be added."),
        ("Image 5 cannot be printed.", "Photo 5 cannot be printed."),
        (
            "image 5 has ZeroCopies, image 6 has NoImageFile.",
            "photo 5 has no copies, photo 6 has NoImageFile.",
        ),
        # What the merchant has sent stays as it is.
        ("`affectedImages` names 5.", "`affectedImages` names 5."),
        ("`image` must be text.", "`image` must be text."),
        ("Value of 'image' supplied", "Value of 'image' supplied"),
        ("Invalid attribute name image", "Invalid attribute name image"),
        ("There is no item of type image for GB.", "There is no item of type image for GB."),
        ("There is no item of type my-image-1.", "There is no item of type my-image-1."),
    ],
)
def test_a_sentence_is_said_in_the_words_of_the_family(core: str, older: str) -> None:
    assert say_in_words(core) == older
