from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("experiments", "0005_what_if"),
    ]

    operations = [
        migrations.RenameField(model_name="run", old_name="collect_asked_at", new_name="asked_at"),
        migrations.AlterField(
            model_name="run",
            name="asked_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When its task (launch, collect or simulate) was last queued",
                null=True,
            ),
        ),
    ]
