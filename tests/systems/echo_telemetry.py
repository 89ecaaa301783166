"""What telemetry adds for the toy system: duplicates, a measure, words for an event, its load, and a study."""

from pathlib import Path

import pyarrow.compute as pc

from telemetry.charts.charts import axis
from telemetry.measures import Measure
from telemetry.studies.criteria import are_within
from telemetry.studies.study import Claim, Plot, Source, Study, mean, where
from telemetry.systems.contract import Counters, Telemetry, Wording


def _by_servers(rows):
    return {("echo", float(row.brokers)): row.measures["mean"] for row in rows}


def _ratio(rows):
    return {"3 servers / 1": mean(where(rows, brokers=3), "mean") / mean(where(rows, brokers=1), "mean")}


STUDY = Study(
    "T.2",
    "Echoes",
    "Does an echo take longer from three servers than from one?",
    Path(__file__).parent / "echo_study.yaml",
    (Plot("response", "Echo by servers", axis("Servers"), axis("Response time", "µs"), _by_servers),),
    (
        Claim(
            "alike",
            "It does not.",
            "The ratio is from 0.8 to 1.2.",
            "It is from 0.5 to 1.5.",
            _ratio,
            are_within(0.2, 0.5),
            "2026-11-25",
            published={"3 servers / 1": 1.0},
            source=Source("Figure T1", "1", "Echoes are alike"),
        ),
    ),
)


class EchoTelemetry(Telemetry):
    measures = (
        Measure(
            "repeated",
            "Echoes beyond the first",
            "",
            ("deliveries", "duplicates"),
            "lower",
            definition="Echoes of a call beyond the first.",
        ),
    )
    wordings = {"Deafened": Wording("{who} hears no more", "{who} hear no more", "{who} deaf", is_loss=True)}
    counters = Counters(
        load=("heard",), load_help="calls that arrived", gauges=("kept",), totals={"kept": "Kept calls"}
    )
    studies = (STUDY,)

    def resolved(self, table, rows, manifest, journalled):
        return rows.append_column("verdict", pc.if_else(pc.equal(rows["copy"], 1), "first", "duplicate"))
