"""Repetitions of changed runs, made before they took over what was changed, are marked as changed, too."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def mark(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Along ``rerun_of``, a generation at a time: what repeats a repetition is found once that is marked."""
    runs = apps.get_model("experiments", "Run").objects.using(editor.connection.alias)
    while found := list(
        runs.filter(change={}, rerun_of__isnull=False)
        .exclude(rerun_of__change={})
        .values_list("pk", "rerun_of__change", "rerun_of__compared_with")
    ):
        for pk, change, compared_with in found:
            runs.filter(pk=pk).update(change=change, compared_with=compared_with)


class Migration(migrations.Migration):
    dependencies = [("experiments", "0008_filtered_columns")]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
