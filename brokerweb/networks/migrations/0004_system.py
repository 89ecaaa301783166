"""A network says of which system it is; those from before there were several are of the first."""

from django.db import migrations, models

from overlay.systems.registry import FIRST


class Migration(migrations.Migration):
    dependencies = [("networks", "0003_restart_orders")]
    operations = [
        migrations.AddField(
            model_name="network",
            name="system",
            field=models.CharField(default=FIRST, editable=False, max_length=40),
        ),
    ]
