"""Shapes of links laid over each other, and told in words."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from overlay.core.link_shapes import in_words, laid_over
from overlay.core.links import LINK_SETTINGS, PROFILES, Link, LinkShape
from tests.test_links import shapes

CLEAR = LinkShape()
bursts = st.builds(LinkShape, loss=st.floats(0, 0.5), loss_burst=st.floats(1, 9), loss_burst_limit=st.integers(0, 5))


@given(shapes() | bursts)
def test_nothing_laid_over_a_link_or_a_link_over_nothing_is_that_link(shape):
    assert laid_over(shape, []) == laid_over(shape, [CLEAR]) == shape
    assert in_words(laid_over(CLEAR, [shape])) == in_words(shape)


@given(st.lists(shapes() | bursts, min_size=1, max_size=5))
def test_any_shapes_make_a_shape_that_spares_no_datagram_that_one_of_them_strikes(several):
    whole = laid_over(several[0], several[1:])  # checked as every shape is
    for one in several:
        for name in ("delay_ms", "jitter_ms", "loss", "duplication", "reordering", "corruption", "partition"):
            rounded = 1e-9  # what shares that are multiplied lose
            assert getattr(whole, name) >= getattr(one, name) - rounded or whole.delay_ms == 60_000
        assert not one.rate_bytes_per_s or 0 < whole.rate_bytes_per_s <= one.rate_bytes_per_s


def test_runs_of_losses_are_as_long_as_so_much_loss_makes_them():
    in_runs = LinkShape(loss=0.3, loss_burst=1)
    assert laid_over(in_runs, [LinkShape(loss=0.1)]).loss_burst == 1
    assert 1.85 < laid_over(in_runs, [LinkShape(loss=0.5)]).loss_burst < 1.86  # 65 % cannot be lost one at a time
    assert laid_over(in_runs, [LinkShape(loss=1)]).loss == 1
    assert laid_over(CLEAR, [in_runs]) == in_runs


def test_a_limit_of_losses_in_a_row_holds_where_everything_that_loses_has_one():
    limited = PROFILES["L1"]
    assert laid_over(limited, [LinkShape(delay_ms=5)]).loss_burst_limit == 3
    assert laid_over(limited, [LinkShape(loss=0.5)]).loss_burst_limit == 0
    assert laid_over(limited, [replace(limited, loss_burst_limit=5)]).loss_burst_limit == 5


def test_words_say_what_a_link_does_and_nothing_of_what_it_does_not():
    assert in_words(CLEAR) == in_words(Link(0, 1)) == ""
    assert in_words(LinkShape(reordering_ms=9, queue_bytes=70_000)) == ""
    assert in_words(PROFILES["L1"]) == "15 ms, 30 % lost, at most 3 in a row, 1.25 MB/s with a queue of 131.1 kB"
    assert in_words(Link(0, 1, delay_ms=5, jitter_ms=1, duplication=0.25)) == "5 ± 1 ms, 25 % duplicated"
    assert in_words(LinkShape(corruption=0.1, partition=True)) == "10 % damaged, cut"


def test_a_link_is_given_all_that_a_shape_knows_but_a_partition_and_says_what_is_not_as_by_default():
    values = {info.name: 1 if info.name != "queue_bytes" else 70_000 for info in LINK_SETTINGS} | {"reordering": 0.5}
    link = Link(3, 1, **values)
    assert link.shape() == LinkShape(**values)
    assert Link(**link.to_json()) == link
    assert Link(3, 1).to_json() == {"a": 3, "b": 1, "delay_ms": 0.0, "jitter_ms": 0.0, "loss": 0.0}
    assert Link(3, 1, duplication=0.5).to_json().keys() - Link(3, 1).to_json().keys() == {"duplication"}
