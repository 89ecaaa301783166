"""All tables as they are after ``0004_system``, for a new database. One from before takes the single steps instead."""

import brokerweb.kit.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    replaces = [('networks', '0001_initial'), ('networks', '0002_quick_lists'), ('networks', '0003_restart_orders'), ('networks', '0004_system')]

    dependencies = [
        ('topologies', '0001_squashed_0003_whole_links'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Host',
            fields=[
                ('name', models.CharField(max_length=100, primary_key=True, serialize=False)),
                ('heartbeat', models.DateTimeField()),
                ('supervisor', models.JSONField(blank=True, default=dict, help_text='PID, version and start time of its supervisor; empty: none')),
                ('problem', models.TextField(blank=True, help_text='Problem that prevents this host from running brokers, if any')),
                ('cores', models.PositiveIntegerField(default=0)),
                ('memory_bytes', models.PositiveBigIntegerField(default=0)),
                ('version', models.CharField(blank=True, max_length=40)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Network',
            fields=[
                ('id', models.CharField(default=brokerweb.kit.ids.new_id, editable=False, max_length=20, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, unique=True)),
                ('system', models.CharField(default='context-broker', editable=False, max_length=40)),
                ('deployed', models.JSONField(default=dict, editable=False, help_text='Brokers and links as deployed')),
                ('settings', models.JSONField(blank=True, default=dict, help_text='Settings of every broker')),
                ('seed', models.PositiveBigIntegerField(default=0)),
                ('desired', models.CharField(choices=[('running', 'Running'), ('stopped', 'Stopped')], default='running', max_length=10)),
                ('state', models.CharField(choices=[('starting', 'Starting'), ('running', 'Running'), ('degraded', 'Degraded'), ('stopping', 'Stopping'), ('stopped', 'Stopped'), ('failed', 'Failed')], default='starting', editable=False, max_length=10)),
                ('reason', models.TextField(blank=True, editable=False)),
                ('host', models.CharField(blank=True, max_length=100)),
                ('epoch', models.PositiveIntegerField(default=1, editable=False, help_text='Increases with every start; fences off older ones')),
                ('brokers', models.JSONField(default=list, editable=False, help_text='Each broker as last observed')),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('changed', models.DateTimeField(default=django.utils.timezone.now, editable=False, help_text='Time of the last state change')),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('topology', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='networks', to='topologies.topology')),
            ],
            options={
                'ordering': ['-created'],
            },
        ),
        migrations.CreateModel(
            name='RestartOrder',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('broker', models.PositiveIntegerField(help_text='Index of the broker')),
                ('restarts', models.PositiveIntegerField(help_text='Number of restarts when it was requested')),
                ('by', models.CharField(blank=True, help_text='User who requested it', max_length=150)),
                ('created', models.DateTimeField(default=django.utils.timezone.now)),
                ('network', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='restart_orders', to='networks.network')),
            ],
        ),
        migrations.AddIndex(
            model_name='network',
            index=models.Index(fields=['-created'], name='networks_ne_created_3ded67_idx'),
        ),
        migrations.AddConstraint(
            model_name='restartorder',
            constraint=models.UniqueConstraint(fields=('network', 'broker'), name='one_order_a_broker'),
        ),
    ]
