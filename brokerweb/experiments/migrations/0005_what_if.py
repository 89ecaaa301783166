import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("experiments", "0004_engine")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="compared_with",
            field=models.ForeignKey(
                blank=True,
                help_text="The original of a what-if run",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="variations",
                to="experiments.run",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="change",
            field=models.JSONField(
                blank=True, default=dict, help_text="The change of a what-if run: see overlay.experiment.whatif"
            ),
        ),
    ]
