"""What telemetry adds for the toy system: which echoes were duplicates, a measure, words for an event, its load."""

import pyarrow as pa
import pyarrow.compute as pc

from telemetry.measures import Measure
from telemetry.systems.contract import Counters, Telemetry, Wording


class EchoTelemetry(Telemetry):
    measures = (Measure("repeated", "Echoes beyond the first", "", ("deliveries", "duplicates"), "lower"),)
    wordings = {"Deafened": Wording("{who} hears no more", "{who} hear no more", "{who} deaf", is_loss=True)}
    counters = Counters(
        load=("heard",), load_help="calls that arrived", gauges=("kept",), totals={"kept": "Kept calls"}
    )

    def verdicts(self, table, rows, manifest, journalled) -> pa.Array:
        return pc.if_else(pc.equal(rows["copy"], 1), "first", "duplicate")
