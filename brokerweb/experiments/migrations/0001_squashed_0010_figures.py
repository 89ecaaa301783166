"""All tables as they are after ``0010_figures``, for a new database. One from before takes the single steps instead."""

import brokerweb.kit.ids
import django.db.models.deletion
import django.db.models.fields.json
import django.db.models.functions.comparison
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    replaces = [('experiments', '0001_initial'), ('experiments', '0002_quick_lists'), ('experiments', '0003_runs_by_verdict'), ('experiments', '0004_engine'), ('experiments', '0005_what_if'), ('experiments', '0006_asked_at'), ('experiments', '0007_labels_figures_and_views'), ('experiments', '0008_filtered_columns'), ('experiments', '0009_changes_of_reruns'), ('experiments', '0010_figures')]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField(max_length=40, unique=True)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Experiment',
            fields=[
                ('id', models.CharField(default=brokerweb.kit.ids.new_id, editable=False, max_length=20, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('definition', models.JSONField(help_text='The body of POST /api/experiments/, with its defaults filled in')),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('demo', models.BooleanField(default=False)),
                ('report_when_done', models.BooleanField(default=False, help_text='Create a comparison report when its runs have ended')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-created'],
            },
        ),
        migrations.CreateModel(
            name='QueuePause',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('since', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.CharField(default=brokerweb.kit.ids.new_id, editable=False, max_length=20, primary_key=True, serialize=False)),
                ('position', models.PositiveIntegerField(default=0, help_text="Position in the launch's random order")),
                ('configuration', models.JSONField(help_text='Topology with its links, system, engine, settings and workload')),
                ('configuration_hash', models.CharField(db_index=True, max_length=32)),
                ('engine', models.GeneratedField(db_persist=True, expression=django.db.models.fields.json.KeyTextTransform('engine', 'configuration'), output_field=models.CharField(max_length=10))),
                ('system', models.GeneratedField(db_persist=True, expression=django.db.models.fields.json.KeyTextTransform('system', 'configuration'), output_field=models.CharField(max_length=40))),
                ('topology_kind', models.GeneratedField(db_persist=True, expression=django.db.models.fields.json.KeyTextTransform('kind', django.db.models.fields.json.KeyTextTransform('topology', 'configuration')), output_field=models.CharField(max_length=40))),
                ('topology_name', models.GeneratedField(db_persist=True, expression=django.db.models.fields.json.KeyTextTransform('name', django.db.models.fields.json.KeyTextTransform('topology', 'configuration')), output_field=models.CharField(max_length=200))),
                ('brokers', models.GeneratedField(db_persist=True, expression=django.db.models.functions.comparison.Cast(django.db.models.fields.json.KeyTextTransform('brokers', django.db.models.fields.json.KeyTextTransform('topology', 'configuration')), models.IntegerField()), output_field=models.IntegerField(null=True))),
                ('strategy', models.GeneratedField(db_persist=True, expression=models.Case(models.When(configuration__settings__arm='structured', then=models.Value('structured')), default=django.db.models.fields.json.KeyTextTransform('search', django.db.models.fields.json.KeyTextTransform('settings', 'configuration')), output_field=models.CharField(max_length=20)), output_field=models.CharField(max_length=20))),
                ('replicate', models.PositiveIntegerField(default=0)),
                ('seed', models.CharField(help_text="64 bits, decimal; more than SQLite's signed integers hold", max_length=20)),
                ('change', models.JSONField(blank=True, default=dict, help_text='The change of a what-if run: see overlay.experiment.whatif')),
                ('estimated_s', models.FloatField(default=0, help_text='From launch to result, as estimated at launch')),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('launching', 'Launching'), ('warming', 'Warming'), ('measuring', 'Measuring'), ('collecting', 'Collecting'), ('done', 'Done'), ('failed', 'Failed'), ('cancelled', 'Cancelled')], db_index=True, default='queued', max_length=10)),
                ('progress', models.FloatField(default=0)),
                ('reason', models.TextField(blank=True)),
                ('cancel_requested', models.BooleanField(default=False)),
                ('stopped', models.CharField(blank=True, help_text='Final state after collecting, if not done', max_length=10)),
                ('verdict', models.CharField(blank=True, help_text='valid or suspect', max_length=10)),
                ('verdict_reasons', models.JSONField(blank=True, default=list)),
                ('summary', models.JSONField(blank=True, default=dict)),
                ('figures', models.JSONField(blank=True, default=dict, help_text='Values of its measures by key, from its summary')),
                ('thresholds', models.JSONField(blank=True, default=list, help_text="The experiment's thresholds, evaluated: [{text, value, held}]")),
                ('passed', models.BooleanField(blank=True, help_text='Whether all thresholds passed; none: not evaluated', null=True)),
                ('observed', models.JSONField(blank=True, default=dict, help_text="The supervisor's last report")),
                ('note', models.TextField(blank=True, help_text='A note by users', max_length=4000)),
                ('kept', models.BooleanField(default=False, help_text='Exempt from retention')),
                ('files_removed', models.DateTimeField(blank=True, help_text='When retention deleted its files', null=True)),
                ('host', models.CharField(blank=True, max_length=100)),
                ('lease_owner', models.CharField(blank=True, max_length=120)),
                ('lease_epoch', models.PositiveIntegerField(default=0)),
                ('lease_expires', models.DateTimeField(blank=True, null=True)),
                ('collect_attempts', models.PositiveIntegerField(default=0)),
                ('asked_at', models.DateTimeField(blank=True, help_text='When its task (launch, collect or simulate) was last queued', null=True)),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('launched_at', models.DateTimeField(blank=True, null=True)),
                ('measuring_at', models.DateTimeField(blank=True, null=True)),
                ('ends_at', models.DateTimeField(blank=True, help_text='Expected end of measuring', null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('compared_with', models.ForeignKey(blank=True, help_text='The original of a what-if run', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='variations', to='experiments.run')),
                ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='experiments.experiment')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('rerun_of', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reruns', to='experiments.run')),
                ('tags', models.ManyToManyField(blank=True, related_name='runs', to='experiments.tag')),
            ],
            options={
                'ordering': ['-created', 'position'],
            },
        ),
        migrations.CreateModel(
            name='RunEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('name', models.CharField(max_length=60)),
                ('detail', models.TextField(blank=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='experiments.run')),
            ],
            options={
                'ordering': ['at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.CharField(help_text='Page: runs or compare', max_length=20)),
                ('name', models.CharField(max_length=80)),
                ('query', models.CharField(blank=True, help_text='Query string of its URL', max_length=2000)),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='views', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.AddIndex(
            model_name='experiment',
            index=models.Index(fields=['-created'], name='experiments_created_7b4b29_idx'),
        ),
        migrations.AddConstraint(
            model_name='savedview',
            constraint=models.UniqueConstraint(fields=('owner', 'page', 'name'), name='one_view_per_name'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['state', 'created', 'position'], name='experiments_state_75fbd7_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['engine', 'state', 'created', 'position'], name='experiments_engine_e76108_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['state', '-ended_at'], name='experiments_state_c36d55_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['-created', 'position'], name='experiments_created_9dd58a_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['verdict', '-created', 'position'], name='experiments_verdict_f85d6d_idx'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['experiment', '-created', 'position'], name='experiments_experim_900b0c_idx'),
        ),
    ]
