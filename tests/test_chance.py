import pytest

from overlay.core.chance import Stream, derive_seed


def test_equal_seeds_give_equal_draws_and_the_published_ones():
    """First outputs of SplitMix64 seeded 0, as in Vigna's reference code."""
    stream = Stream(0)
    assert [int(stream.random() * 2**53) for _ in range(3)] == [
        0xE220A8397B1DCDAF >> 11,
        0x6E789E6AA1B965F4 >> 11,
        0x06C45D188009454F >> 11,
    ]
    one, other = Stream(7), Stream(7)
    assert [one.randrange(100) for _ in range(20)] == [other.randrange(100) for _ in range(20)]


def test_streams_of_other_names_differ():
    assert len({derive_seed(1, "broker", 1), derive_seed(1, "broker", 2), derive_seed(2, "broker", 1)}) == 3
    assert derive_seed(1, "broker", 1) == derive_seed(1, "broker", 1)


def test_draws_are_even():
    stream = Stream(1)
    counts = [0] * 10
    for _ in range(10_000):
        counts[stream.randrange(10)] += 1
    assert all(850 < count < 1150 for count in counts)


def test_a_sample_has_no_position_twice():
    stream = Stream(1)
    assert all(sorted(stream.sample("abcdef", 6)) == list("abcdef") for _ in range(50))
    assert len({tuple(stream.sample("abc", 2)) for _ in range(200)}) == 6
    assert stream.sample("abc", 0) == []


def test_what_cannot_be_drawn_raises():
    with pytest.raises(ValueError, match="empty range"):
        Stream(1).randrange(0)
    with pytest.raises(ValueError, match="sample larger"):
        Stream(1).sample("abc", 4)
