"""What the paper published, and its figures drawn from it: the values recomputed by hand in the specification."""

import pytest

from telemetry.systems.context_broker.figures import FIGURES, draw, draw_all
from telemetry.systems.context_broker.published import nearest, table_b1

PUBLISHED = {
    "4.3": ([1421.7, 1646.1, 1650.2], [931, 874, 881], [926, 881, 891], [943, 897, 872]),
    "4.4": ([1650.2, 4491.3, 7029.6], [881, 921, 925], [891, 982, 921], [872, 954, 918]),
    "4.5": ([2046.9, 2267.1, 2302.4], [2099, 2136, 2162], [2111, 2188, 2126], [2092, 2154, 2097]),
    "4.6": ([2302.4, 2800.9, 5715.8], [2162, 2417, 2826], [2126, 2473, 2577], [2097, 2412, 2632]),
}


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.number)
def test_a_figure_shows_the_published_means(figure):
    drawn = draw(figure)
    assert [one["topology"] for one in drawn["series"]] == ["central", "ring", "full-mesh", "waxman"]
    for one, expected in zip(drawn["series"], PUBLISHED[figure.number], strict=True):
        assert one["role"] == "published"
        assert [point["x"] for point in one["points"]] == [50, 500, 1000]
        assert [point["y"] for point in one["points"]] == pytest.approx(expected, abs=0.51)
        assert {point["n"] for point in one["points"]} == ({1} if one["topology"] == "central" else {3})


def test_the_table_is_whole_and_its_damage_is_known():
    rows = table_b1()
    assert len(rows) == 251
    assert [row.config for row in rows if not row.is_whole] == [117, 119, 120, 194, 244, 245, 246]
    assert all("117, 119, 120, 194" in " ".join(figure["notes"]) for figure in draw_all())


def workload(providers, consumers, update_interval_s, request_interval_s):
    return {
        "providers": providers,
        "consumers": consumers,
        "update_interval_s": update_interval_s,
        "request_interval_s": request_interval_s,
    }


def test_the_published_row_of_the_same_configuration_is_found():
    row, differs = nearest("waxman", 10, workload(50, 1000, 1.0, 1.0))
    assert (row.config, differs) == (181, [])
    row, differs = nearest("central", 1, workload(1000, 1000, 30, 30))
    assert (row.config, row.response_us, differs) == (251, 7029.55, [])


def test_the_nearest_row_says_in_what_it_differs():
    row, differs = nearest("ring", 10, workload(10, 40, 1.0, 0.5))
    assert (row.config, differs) == (1, ["providers", "consumers", "request_interval_s"])
    assert nearest("star", 10, workload(50, 50, 1, 1)) is None
    assert nearest("ring", 7, workload(50, 50, 1, 1)) is None


def measured(consumers, replicates, **topology):
    interval = {"value": None, "replicates": replicates}
    return {
        "label": "ring",
        "topology": {"name": "ring", "kind": "ring", "brokers": 10, "links": "", "shaped": False, **topology},
        "workload": workload(50, consumers, 1.0, 30),
        "response": {"from_intended": {"mean": interval}},
        "memory": {"rss_bytes": interval, "uss_bytes": interval},
    }


def test_what_was_measured_is_drawn_where_it_lies_and_nowhere_else():
    drawn = draw(FIGURES[0], [measured(50, [900.0, 1000.0]), measured(200, [1200.0])])
    (ours,) = [one for one in drawn["series"] if one["role"] == "measured"]
    assert [(point["x"], round(point["y"], 1), point["n"]) for point in ours["points"]] == [
        (50, 948.7, 2),
        (200, 1200.0, 1),
    ], "the geometric mean of the replicates"
    assert ours["points"][0]["low"] < 900 < 1000 < ours["points"][0]["high"]
    assert ours["points"][1]["low"] is None


def test_other_conditions_are_said_in_the_name_where_they_differ_and_once_where_they_do_not():
    five = measured(50, [900.0], links="delay 0.5 to 5 ms", shaped=True, brokers=5)
    drawn = draw(FIGURES[1], [five, measured(50, [800.0])])
    assert [one["name"] for one in drawn["series"] if one["role"] == "shaped"] == [
        "ring, 5 brokers, links: delay 0.5 to 5 ms"
    ]
    assert [one["name"] for one in drawn["series"] if one["role"] == "measured"] == ["ring, links: not shaped"]
    assert drawn["remark"] == (
        "No run of this report has 1000 consumers and 30 s between requests: what was measured has 50 consumers."
    )


def test_runs_of_the_figures_own_settings_need_no_remark():
    assert draw(FIGURES[0], [measured(50, [900.0])])["remark"] == ""
    assert draw(FIGURES[0])["remark"] == ""


def test_a_figure_that_nothing_was_measured_for_says_so():
    drawn = draw(FIGURES[0], [measured(50, [])])
    assert {one["role"] for one in drawn["series"]} == {"published"}
    assert drawn["remark"].startswith("No run of this report was answered")


def test_memory_is_drawn_in_the_unit_of_the_paper():
    drawn = draw(FIGURES[2], [measured(50, [2_048_000.0])])
    assert [one["points"][0]["y"] for one in drawn["series"] if one["role"] == "measured"] == [2048.0, 2048.0]
