"""Figures of runs become one document instead of a column for each, so that a new measure changes no table."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from telemetry.measures import figures_in
from telemetry.systems.registry import measures_of

AT_ONCE = 200
"""Rows, of some kilobytes each."""
COLUMNS = (
    *("age_ms", "answer_ratio", "answered", "cores_used", "datagrams_per_query", "false_not_found", "fresh_share"),
    *("hops", "late_p99", "mean", "messages_per_query", "messages_per_update", "not_found", "over_idle", "p50"),
    *("p95", "p99", "per_s", "pss", "refused", "requests", "rss", "success", "table", "timed_out", "uss"),
)


def fill(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Of every run that was summed up, what its summary has."""
    runs = apps.get_model("experiments", "Run").objects.using(editor.connection.alias)
    names = list(runs.exclude(summary={}).order_by("pk").values_list("pk", flat=True))
    for begin in range(0, len(names), AT_ONCE):
        rows: list[Any] = list(runs.filter(pk__in=names[begin : begin + AT_ONCE]).only("pk", "system", "summary"))
        for row in rows:
            row.figures = figures_in(row.summary, measures_of(row.system).values())
        runs.bulk_update(rows, ["figures"])


class Migration(migrations.Migration):
    dependencies = [("experiments", "0009_changes_of_reruns")]

    operations = [
        *(migrations.RemoveField(model_name="run", name=f"figure_{name}") for name in COLUMNS),
        migrations.AddField(
            model_name="run",
            name="figures",
            field=models.JSONField(
                blank=True, default=dict, help_text="Values of its measures by key, from its summary"
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
