"""Edge lists: what comes back of what went out, and which line is wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.errors import InvalidSetting
from overlay.core.links import Link
from overlay.topologies import Graph, Limits, from_csv, from_graphml, from_json, to_csv, to_graphml, to_json
from tests.thorough import examples

NAME = st.text(st.characters(categories=("L", "N", "P", "S", "Zs"), exclude_characters="\xa0"), min_size=1, max_size=8)
PRINTABLE = NAME.map(str.strip).filter(lambda name: name and name.isprintable() and not name.startswith("#"))
SHARE = st.floats(0, 1).map(lambda value: round(value, 6))
MORE = st.fixed_dictionaries(
    {},
    optional={
        "loss_burst_limit": st.integers(0, 1000),
        "duplication": SHARE,
        "reordering": SHARE,
        "reordering_ms": st.floats(0, 60_000),
        "corruption": SHARE,
        "rate_bytes_per_s": st.floats(0, 1e12),
        "queue_bytes": st.integers(65_507, 1 << 30),
    },
)
"""Link conditions other than delay, jitter and loss."""


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any graph that can be saved: brokers with or without names, in parts or whole, each link with its shape."""
    brokers = draw(st.integers(1, 9))
    pairs = [(a, b) for a in range(brokers) for b in range(a + 1, brokers)]
    ends = draw(st.sets(st.sampled_from(pairs))) if pairs else set()
    shapes = [draw(st.tuples(st.floats(0, 60_000), st.floats(0, 1), st.floats(0, 1))) for _ in ends]
    more = [draw(st.just({}) | MORE) for _ in ends]
    links = tuple(
        Link(*end, delay, delay * jitter, loss, **rest)
        for end, (delay, jitter, loss), rest in zip(sorted(ends), shapes, more, strict=True)
    )
    names = draw(st.none() | st.lists(PRINTABLE, min_size=brokers, max_size=brokers, unique=True).map(tuple))
    if names == tuple(str(i) for i in range(brokers)):
        names = None
    return Graph(brokers, links, tuple((draw(SHARE), draw(SHARE)) for _ in range(brokers)), names)


@given(graphs())
@settings(max_examples=60)
def test_what_goes_out_as_a_file_comes_back_exactly(graph: Graph) -> None:
    assert from_json(to_json(graph)) == graph
    assert from_graphml(to_graphml(graph)) == graph
    listed = from_csv(to_csv(graph))
    assert (listed.brokers, listed.links, listed.names) == (graph.brokers, graph.links, graph.names)


def test_an_edge_list_has_the_columns_that_say_something() -> None:
    plain = Graph(3, (Link(0, 1), Link(1, 2)))
    assert to_csv(plain).splitlines()[0] == "a,b,delay_ms,jitter_ms,loss"
    narrow = Graph(3, (Link(0, 1), Link(1, 2, duplication=0.25, queue_bytes=70_000)))
    assert to_csv(narrow).splitlines() == [
        "a,b,delay_ms,jitter_ms,loss,duplication,queue_bytes",
        "0,1,0.0,0.0,0.0,0.0,131072",
        "1,2,0.0,0.0,0.0,0.25,70000",
    ]


@given(st.text(max_size=200) | st.text("ab,;01\n\t\"'.-#", max_size=60))
@settings(max_examples=examples(150))
def test_any_text_is_a_graph_or_a_sentence(text: str) -> None:
    try:
        assert from_csv(text).brokers >= 1
    except InvalidSetting as error:
        assert error.field
        assert error.sentence


def test_edge_lists_are_read_as_people_write_them() -> None:
    plain = from_csv("0,1\n1,2\n")
    assert (plain.brokers, [link.ends for link in plain.links], plain.names) == (3, [(0, 1), (1, 2)], None)
    named = from_csv("source;target;loss;delay_ms\n# the harbour\nquay; crane ;0.5;3\n\ncrane;gate;;\n")
    assert named.names == ("quay", "crane", "gate")
    assert named.links == (Link(0, 1, 3.0, 0.0, 0.5), Link(1, 2))
    counted_from_one = from_csv("10,2\n2,1\n")
    assert counted_from_one.names == ("1", "2", "10")
    assert from_csv("\ufeffa\tb\n0\t1\n".encode()).links == (Link(0, 1),)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "file: has no links"),
        ("a,b\n", "file: has no links"),
        (b"\xff\xfe", "file: is not text in UTF-8"),
        ("0,1\n0,0\n", "line 2: joins a broker to itself"),
        ("0,1\n1,2\n1,0\n", "line 3: joins the same two brokers as line 1"),
        ("a,b,delay_ms\n0,1,soon\n", "line 2.delay_ms: must be a number"),
        ("a,b,delay_ms\n0,1,-4\n", "links: Link 0 (0–1) has an invalid delay_ms"),
        ("a,b,weight\n0,1,2\n", "line 1: column 'weight' is not known"),
        ("a,b,loss,loss\n0,1,0,0\n", "line 1: names a column twice"),
        ("0,1,2,3,4,5\n", "line 1: has 6 values for 5 columns"),
        ("0,1\n,1\n", "line 2.a: names no broker"),
        ('0,1\n"0,2\n', "cannot be read"),
        ("".join(f"{i},{i + 1}\n" for i in range(30)), "brokers: 31 are more than the limit of 20"),
        ("0,1\n" * 900, "file: 3600 bytes are more than the limit of 2000"),
    ],
)
def test_what_is_wrong_names_its_line(text: str, told: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        from_csv(text, Limits(brokers=20, file_bytes=2_000))
    assert told in str(caught.value)


def test_no_more_lines_are_read_than_there_may_be() -> None:
    lines = "".join(f"{a},{b}\n" for a in range(6) for b in range(a)) + "this line, is, no, link, at, all\n"
    with pytest.raises(InvalidSetting, match="links: more lines than the limits of 8 links and 6 brokers"):
        from_csv(lines, Limits(brokers=6, links=8))
