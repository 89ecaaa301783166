"""All tables as they are after ``0003_whole_links``, for a new database. One from before takes the single steps instead."""

import brokerweb.kit.ids
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    replaces = [('topologies', '0001_initial'), ('topologies', '0002_versions'), ('topologies', '0003_whole_links')]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Topology',
            fields=[
                ('id', models.CharField(default=brokerweb.kit.ids.new_id, editable=False, max_length=20, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100, unique=True)),
                ('kind', models.CharField(max_length=40)),
                ('brokers', models.PositiveIntegerField(help_text='Number of brokers', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)])),
                ('params', models.JSONField(blank=True, default=dict, help_text='Parameters of the generator')),
                ('seed', models.PositiveBigIntegerField(default=0)),
                ('measures', models.JSONField(default=dict, editable=False)),
                ('version', models.PositiveIntegerField(default=0, editable=False, help_text='Version number of the rows')),
                ('sketch', models.TextField(blank=True, editable=False, help_text='Sketch for lists: see pictures.sketch')),
                ('created', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated', models.DateTimeField(auto_now=True)),
                ('owner', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'topologies',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('index', models.PositiveIntegerField()),
                ('name', models.CharField(blank=True, max_length=100)),
                ('x', models.FloatField(blank=True, null=True)),
                ('y', models.FloatField(blank=True, null=True)),
                ('topology', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='nodes', to='topologies.topology')),
            ],
            options={
                'ordering': ['index'],
                'constraints': [models.UniqueConstraint(fields=('topology', 'index'), name='one_node_per_index')],
            },
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('a', models.PositiveIntegerField()),
                ('b', models.PositiveIntegerField()),
                ('delay_ms', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0)])),
                ('jitter_ms', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0)])),
                ('loss', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('loss_burst', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1000)])),
                ('loss_burst_limit', models.PositiveIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(1000)])),
                ('duplication', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('reordering', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('reordering_ms', models.FloatField(default=50, validators=[django.core.validators.MinValueValidator(0)])),
                ('corruption', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('rate_bytes_per_s', models.FloatField(default=0, validators=[django.core.validators.MinValueValidator(0)])),
                ('queue_bytes', models.PositiveIntegerField(default=131072, validators=[django.core.validators.MinValueValidator(65507)])),
                ('topology', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='links', to='topologies.topology')),
            ],
            options={
                'ordering': ['a', 'b'],
                'constraints': [models.UniqueConstraint(fields=('topology', 'a', 'b'), name='one_link_per_pair')],
            },
        ),
        migrations.CreateModel(
            name='TopologyVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(help_text='From 1; gaps where old versions were thinned out')),
                ('document', models.JSONField(help_text='See versions.document_of')),
                ('size', models.PositiveIntegerField(default=0, help_text='Bytes of the document')),
                ('at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL)),
                ('topology', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='topologies.topology')),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.UniqueConstraint(fields=('topology', 'number'), name='one_version_per_number')],
            },
        ),
    ]
