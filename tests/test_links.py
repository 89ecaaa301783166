"""The link model: what a link may and may not do to datagrams, over random shapes and seeds."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.chance import Stream
from overlay.core.errors import InvalidSetting
from overlay.core.links import MAX_COPIES, PROFILES, Link, LinkShape, Shaper
from overlay.core.node import MILLISECOND, SECOND

seeds = st.integers(0, 2**64 - 1)
fractions = st.floats(0, 1)


@st.composite
def shapes(draw: st.DrawFn) -> LinkShape:
    delay = draw(st.floats(0, 1000))
    return LinkShape(
        delay_ms=delay,
        jitter_ms=draw(st.floats(0, 1)) * delay,
        loss=draw(fractions),
        loss_burst_limit=draw(st.integers(0, 4)),
        duplication=draw(fractions),
        reordering=draw(fractions),
        reordering_ms=draw(st.floats(0, 100)),
        corruption=draw(fractions),
        rate_bytes_per_s=draw(st.sampled_from([0.0, 1e3, 1e6])),
        partition=draw(st.booleans()),
    )


def sent(shaper: Shaper, count: int, every_ms: int = 1, size: int = 100) -> list[tuple[int, list[tuple[int, bytes]]]]:
    """``count`` datagrams, one each ``every_ms``: when each was handed over, and its arrivals."""
    moments = [i * every_ms * MILLISECOND for i in range(count)]
    return [(now, shaper.transmit(bytes([i % 256]) * size, now)) for i, now in enumerate(moments)]


@given(shapes(), seeds)
def test_nothing_arrives_before_its_time_or_in_more_copies_than_allowed(shape: LinkShape, seed: int) -> None:
    earliest = (shape.delay_ms - shape.jitter_ms) * MILLISECOND
    for now, arrivals in sent(Shaper(shape, Stream(seed)), 20):
        assert len(arrivals) <= MAX_COPIES
        for at, data in arrivals:
            assert at >= max(now, now + int(earliest))
            assert len(data) == 100


@given(shapes(), seeds)
def test_the_same_seed_does_the_same_and_any_chance_will_do(shape: LinkShape, seed: int) -> None:
    assert sent(Shaper(shape, Stream(seed)), 30) == sent(Shaper(shape, Stream(seed)), 30)
    assert sent(Shaper(shape, Random(seed)), 30) == sent(Shaper(shape, Random(seed)), 30)


@given(shapes(), seeds)
def test_what_arrives_and_what_was_dropped_add_up(shape: LinkShape, seed: int) -> None:
    shaper = Shaper(shape, Stream(seed))
    arrived = sum(bool(arrivals) for _, arrivals in sent(shaper, 40, size=5000))
    dropped = sum(shaper.counts[why] for why in ("partitioned", "lost", "overflowed"))
    assert arrived + dropped == 40


@given(seeds)
def test_a_clear_link_changes_nothing_and_draws_nothing(seed: int) -> None:
    chance = Stream(seed)
    assert Shaper(LinkShape(), chance).transmit(b"hello", 7) == [(7, b"hello")]
    assert chance.random() == Stream(seed).random()


@given(shapes(), seeds)
def test_a_partition_passes_nothing_until_it_is_healed(shape: LinkShape, seed: int) -> None:
    shaper = Shaper(LinkShape(partition=True), Stream(seed))
    assert not any(arrivals for _, arrivals in sent(shaper, 10))
    shaper.shape = LinkShape()
    assert all(arrivals for _, arrivals in sent(shaper, 10))


@given(st.floats(0, 0.9), st.sampled_from([0, 1, 10, 20]), seeds)
@settings(max_examples=25)
def test_the_share_lost_is_the_loss_with_and_without_bursts(loss: float, burst: int, seed: int) -> None:
    if burst and loss > burst / (burst + 1):
        with pytest.raises(InvalidSetting, match=r"^loss:"):
            LinkShape(loss=loss, loss_burst=burst)
        return
    shaper = Shaper(LinkShape(loss=loss, loss_burst=burst), Stream(seed))
    count = 5_000
    sent(shaper, count)
    correlation = max(1, 2 * burst)  # datagrams in a burst share a fate, so that there are fewer independent draws
    assert abs(shaper.counts["lost"] / count - loss) < 6 * (0.25 * correlation / count) ** 0.5


def test_losses_come_in_runs_of_the_length_asked_for() -> None:
    shaper = Shaper(LinkShape(loss=0.2, loss_burst=8), Stream(1))
    text = "".join("." if arrivals else "x" for _, arrivals in sent(shaper, 50_000))
    runs = [run for run in text.split(".") if run]
    assert 7 < sum(map(len, runs)) / len(runs) < 9


@given(seeds)
@settings(max_examples=20)
def test_no_more_than_the_limit_is_lost_in_a_row(seed: int) -> None:
    text = "".join("." if arrivals else "x" for _, arrivals in sent(Shaper(PROFILES["L1"], Stream(seed)), 2000))
    assert "xxx" in text
    assert "xxxx" not in text


@given(seeds, st.integers(1, 65_507))
@settings(max_examples=30)
def test_a_rate_is_never_exceeded_and_its_queue_never_overfull(seed: int, size: int) -> None:
    shape = LinkShape(rate_bytes_per_s=100_000, queue_bytes=70_000)
    shaper = Shaper(shape, Stream(seed))
    arrivals = [(now, at) for now, deliveries in sent(shaper, 200, size=size) for at, _ in deliveries]
    for (_, first), (_, second) in pairwise(arrivals):
        assert second - first >= size * SECOND // 100_000  # in order, one datagram's time apart
    assert all(at - now <= 70_000 * SECOND / 100_000 + 1 for now, at in arrivals)
    assert (shaper.counts["overflowed"] > 0) == (200 * size > 70_000 + 0.2 * 100_000)


def test_corruption_flips_one_bit() -> None:
    shaper = Shaper(LinkShape(corruption=1), Stream(3))
    [(_, data)] = shaper.transmit(b"\x00" * 50, 0)
    assert sum(byte.bit_count() for byte in data) == 1


def test_reordering_lets_later_datagrams_overtake() -> None:
    arrivals = [at for _, [(at, _)] in sent(Shaper(LinkShape(reordering=0.25), Stream(3)), 200)]
    assert arrivals != sorted(arrivals)
    assert not any(b < a for a, b in zip(arrivals, arrivals[60:], strict=False))


def test_duplicates_are_copies_of_the_datagram() -> None:
    shaper = Shaper(LinkShape(duplication=1), Stream(3))
    assert shaper.transmit(b"hi", 5) == [(5, b"hi")] * MAX_COPIES


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"delay_ms": -1}, "^delay_ms: "),
        ({"delay_ms": float("nan")}, "^delay_ms: "),
        ({"jitter_ms": 2, "delay_ms": 1}, "^jitter_ms: 2 ms is more than the delay of 1 ms"),
        ({"loss": 1.5}, "^loss: "),
        ({"loss": True}, "^loss: "),
        ({"loss": 0.9, "loss_burst": 2}, "^loss: runs of 2 on average cannot lose more than 0.667"),
        ({"loss_burst": 0.5}, "^loss_burst: a run of losses is at least 1"),
        ({"queue_bytes": 100}, "^queue_bytes: "),
        ({"partition": 1}, "^partition: "),
    ],
)
def test_a_shape_that_makes_no_sense_is_refused_by_name(values: dict[str, float], sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        LinkShape(**values)


def test_a_link_is_the_same_either_way_round_and_gives_its_shape() -> None:
    assert Link(4, 2).ends == Link(2, 4).ends == (2, 4)
    assert Link(0, 1, delay_ms=3, jitter_ms=1, loss=0.1).shape() == LinkShape(delay_ms=3, jitter_ms=1, loss=0.1)
