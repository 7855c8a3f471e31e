"""What a stolen database costs to guess from."""

from printworks.dashboard.auth.hashing_child import Hasher


def test_a_guess_takes_three_passes_over_64_megabytes() -> None:
    hashed = Hasher().hash("correct horse battery staple")

    assert hashed.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
