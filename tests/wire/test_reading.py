"""Whatever is sent becomes a shape that can be relied on, or a refusal that says why not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from printworks.errors import BadInput
from printworks.wire.orders import SetStatus
from printworks.wire.reading import read, read_each
from printworks.wire.v3.images import AddImage
from printworks.wire.v3.orders import CreateOrder, UpdateOrder
from printworks.wire.v3.preflight import CheckImage

SHAPES: list[type[Struct]] = [AddImage, CheckImage, CreateOrder, SetStatus, UpdateOrder]

LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "sku": st.sampled_from(["GLOBAL-PHO-4X6-PRO", 4, " x "]),
    "url": st.sampled_from(["http://x", "https://x:1/\u00e9", "http://x:y", "http://[", "x"]),
    "copies": st.sampled_from([0, 1, "2", " 3 ", "1e3", 1.0, 0.5, -1, True, "9" * 400]),
    "sizing": st.sampled_from(["Crop", "crop", "SHRINKTOFIT", "x", 1]),
    "priceToUser": st.sampled_from([0, "1", 1.5, -1]),
    "md5Hash": st.sampled_from(["0" * 32, "A" * 32, "x", 0]),
    "placement": st.sampled_from(
        [{}, [], "", "x", {"x": 0}, {"X": "0.25", "y": None, "zoom": 4}, {"x": 2}, {"zoom": "a"}]
    ),
    "attributes": st.sampled_from([{}, [], {"a": "b"}, {"a": 1}, {"a": None}, {"a": []}, "a"]),
}
anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
images = st.fixed_dictionaries(
    {}, optional={name: likely | anything for name, likely in LIKELY.items()}
)


@pytest.mark.parametrize("shape", SHAPES)
@given(data=st.data())
def test_a_member_of_any_kind_is_read_or_refused_by_name(
    shape: type[Struct], data: st.DataObject
) -> None:
    names = st.sampled_from([name.upper() for name in shape.__struct_fields__])
    sent = data.draw(st.dictionaries(names | st.text(), anything, max_size=6))

    said = ""
    try:
        assert isinstance(read(shape, sent), shape)
    except BadInput as refusal:
        said = refusal.message

    assert not said or said.startswith("`")


@given(images)
def test_an_image_that_was_read_can_be_relied_on(sent: dict[str, Any]) -> None:
    try:
        image = read(AddImage, sent)
    except BadInput:
        return

    assert image.sku.strip()
    assert image.url.lower().startswith(("http://", "https://"))
    assert type(image.copies) is int
    assert 0 <= image.copies <= 100_000
    assert image.md5Hash is None or len(image.md5Hash) == 32
    assert image.priceToUser is None or image.priceToUser >= 0
    for name, value in (image.attributes or {}).items():
        assert isinstance(name, str)
        assert isinstance(value, str)
        assert value


@given(st.lists(images, max_size=6))
def test_a_list_is_read_whole_or_refused_with_the_first_that_is_wrong(
    sent: list[dict[str, Any]],
) -> None:
    refusals = []
    for number, element in enumerate(sent, start=1):
        try:
            read(AddImage, element)
        except BadInput as refusal:
            refusals.append(f"Element {number}: {refusal.message}")

    if refusals:
        with pytest.raises(BadInput) as caught:
            read_each(AddImage, sent, most=6)
        assert caught.value.message == refusals[0]
    else:
        assert read_each(AddImage, sent, most=6) == [read(AddImage, each) for each in sent]
