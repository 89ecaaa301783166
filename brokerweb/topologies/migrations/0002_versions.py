import json

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

from brokerweb.topologies import pictures
from overlay.core.links import Link
from overlay.topologies import Graph


def first_versions(apps, schema_editor):
    """What stands is version 1 of each topology, and gets its picture."""
    Topology = apps.get_model("topologies", "Topology")
    Version = apps.get_model("topologies", "TopologyVersion")
    for topology in Topology.objects.prefetch_related("nodes", "links").iterator(chunk_size=50):
        nodes = sorted(topology.nodes.all(), key=lambda node: node.index)
        links = sorted(topology.links.all(), key=lambda link: (link.a, link.b))
        if len(nodes) != topology.brokers or any(node.x is None or node.y is None for node in nodes):
            nodes = []
        named = any(node.name for node in nodes)
        document = {
            "kind": topology.kind,
            "params": topology.params,
            "seed": topology.seed,
            "brokers": topology.brokers,
            "links": [[link.a, link.b, link.delay_ms, link.jitter_ms, link.loss] for link in links],
            "positions": [[node.x, node.y] for node in nodes] or None,
            "names": [node.name or str(node.index) for node in nodes] if named else None,
        }
        Version.objects.create(
            topology=topology,
            number=1,
            document=document,
            size=len(json.dumps(document)),
            by=topology.owner,
            at=topology.updated,
        )
        places = tuple((node.x, node.y) for node in nodes) or None
        graph = Graph(topology.brokers, tuple(Link(link.a, link.b) for link in links), places)
        Topology.objects.filter(pk=topology.pk).update(version=1, sketch=pictures.sketch(graph))


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("topologies", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="topology",
            name="sketch",
            field=models.TextField(blank=True, editable=False, help_text="Sketch for lists: see pictures.sketch"),
        ),
        migrations.AddField(
            model_name="topology",
            name="version",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="Version number of the rows"
            ),
        ),
        migrations.AlterField(
            model_name="node",
            name="name",
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.CreateModel(
            name="TopologyVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "number",
                    models.PositiveIntegerField(help_text="From 1; gaps where old versions were thinned out"),
                ),
                ("document", models.JSONField(help_text="See versions.document_of")),
                ("size", models.PositiveIntegerField(default=0, help_text="Bytes of the document")),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("note", models.CharField(blank=True, max_length=200)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "topology",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="topologies.topology"
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("topology", "number"), name="one_version_per_number")
                ],
            },
        ),
        migrations.RunPython(first_versions, migrations.RunPython.noop),
    ]
