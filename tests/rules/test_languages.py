"""Which language somebody reads, by where they live or by what their browser says."""

import pytest

from printworks.rules.languages import Language, choose_language


@pytest.mark.parametrize(
    ("accepted", "chosen"),
    [
        ("", Language.EN),
        ("de", Language.DE),
        ("de-CH,de;q=0.9,en;q=0.8", Language.DE),
        ("it,fr;q=0.5", Language.FR),
        ("EN;q=0.4, ES ; q=0.9", Language.ES),
        ("fr;q=0, de;q=0.1", Language.DE),
        ("fr,de", Language.FR),
        ("*", Language.EN),
        ("de;q=2, fr;q=x, es;level=1", Language.EN),
        (";;;,,,=,q=1,\x00", Language.EN),
        ("xx," * 20 + "de", Language.EN),
        ("den", Language.EN),
    ],
)
def test_the_language_that_a_browser_likes_most_is_chosen(accepted: str, chosen: Language) -> None:
    assert choose_language(accepted) is chosen


def test_without_a_wish_it_is_the_one_that_is_likely() -> None:
    assert choose_language("it", Language.FR) is Language.FR
