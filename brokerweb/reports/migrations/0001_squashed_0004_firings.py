"""All tables as they are after ``0004_firings``, for a new database. One from before takes the single steps instead."""

import brokerweb.kit.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    replaces = [('reports', '0001_initial'), ('reports', '0002_report_attempts'), ('reports', '0003_quick_lists'), ('reports', '0004_firings')]

    dependencies = [
        ('django_celery_beat', '0019_alter_periodictasks_options'),
        ('experiments', '0001_squashed_0010_figures'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('id', models.CharField(default=brokerweb.kit.ids.new_id, editable=False, max_length=20, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, unique=True)),
                ('kind', models.CharField(choices=[('comparison', 'makes a report'), ('launch', 'launches')], default='comparison', max_length=20)),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('experiments', models.ManyToManyField(related_name='schedules', to='experiments.experiment')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('periodic_task', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='report_schedule', to='django_celery_beat.periodictask')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.CharField(default=brokerweb.kit.ids.new_id, editable=False, max_length=20, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('comparison', 'Comparison')], default='comparison', max_length=20)),
                ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], db_index=True, default='queued', max_length=10)),
                ('reason', models.TextField(blank=True)),
                ('progress', models.TextField(blank=True, help_text='What it is doing or waiting for')),
                ('while_measuring', models.BooleanField(default=False, help_text='Compute even while a run is measuring on this host, which disturbs that run')),
                ('cancel_requested', models.BooleanField(default=False)),
                ('result', models.JSONField(blank=True, default=dict)),
                ('html_path', models.CharField(blank=True, max_length=300)),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('asks', models.PositiveIntegerField(default=0, editable=False, help_text='How often a Spark worker was asked')),
                ('attempts', models.PositiveIntegerField(default=0, editable=False, help_text='How often its computing began; fences off earlier ones')),
                ('asked_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('heartbeat', models.DateTimeField(blank=True, editable=False, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('experiments', models.ManyToManyField(blank=True, related_name='reports', to='experiments.experiment')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('runs', models.ManyToManyField(blank=True, related_name='reports', to='experiments.run')),
                ('schedule', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reports', to='reports.schedule')),
            ],
            options={
                'ordering': ['-created'],
            },
        ),
        migrations.CreateModel(
            name='Firing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('outcome', models.CharField(choices=[('done', 'Done'), ('skipped', 'Skipped'), ('failed', 'Failed')], max_length=10)),
                ('sentence', models.TextField(blank=True, help_text='Why it did nothing, if it did nothing')),
                ('by', models.ForeignKey(blank=True, help_text='None: the clock', null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('runs', models.ManyToManyField(blank=True, related_name='firings', to='experiments.run')),
                ('report', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='firings', to='reports.report')),
                ('schedule', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='firings', to='reports.schedule')),
            ],
            options={
                'ordering': ['-at', '-id'],
            },
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['-created'], name='reports_rep_created_bf2073_idx'),
        ),
        migrations.AddIndex(
            model_name='report',
            index=models.Index(fields=['state', '-created'], name='reports_rep_state_f9da6a_idx'),
        ),
        migrations.AddIndex(
            model_name='firing',
            index=models.Index(fields=['schedule', '-at'], name='reports_fir_schedul_9400af_idx'),
        ),
    ]
