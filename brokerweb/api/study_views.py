"""REST endpoints of studies: list, results of the latest experiment, launch."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.viewsets import GenericViewSet, ViewSet

from brokerweb.api.experiment_views import shown_launch
from brokerweb.api.pages import Pages
from brokerweb.api.resources import created
from brokerweb.api.shapes.experiments import LaunchSerializer
from brokerweb.api.shapes.fields import Body, ObjectsField
from brokerweb.api.sparse import SparseFields
from brokerweb.definitions import documents
from brokerweb.experiments.models import Experiment
from brokerweb.studies import services
from overlay.core.errors import InvalidSetting, shown
from telemetry.studies import telling
from telemetry.studies.criteria import OF_VALUES, VERDICTS
from telemetry.studies.drawing import charts
from telemetry.studies.study import QUICK, SCALES, Study
from telemetry.systems.registry import study_called


class StudyClaimSerializer(serializers.Serializer):
    """A quantity next to the published one, with its 95 % interval over seeds."""

    id = serializers.CharField()
    of = serializers.CharField(help_text="Id of its criterion or chart")
    quantity = serializers.CharField(help_text="With its unit")
    unit = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Seeds")
    published = serializers.FloatField(allow_null=True)
    source: Any = serializers.CharField(allow_null=True, help_text="Source of the published value")
    verdict = serializers.ChoiceField(choices=OF_VALUES)


class StudyCriterionSerializer(serializers.Serializer):
    id = serializers.CharField()
    claim = serializers.CharField()
    criterion = serializers.CharField(help_text="Criterion for reproduced")
    shape = serializers.CharField(help_text="Criterion for shape only")
    written = serializers.CharField(help_text="Date of the criterion")
    verdict = serializers.ChoiceField(choices=VERDICTS)


class StudyOfferSerializer(serializers.Serializer):
    scale = serializers.ChoiceField(choices=SCALES)
    runs = serializers.IntegerField(help_text="Maximum number of runs of a launch")
    estimated_s = serializers.FloatField(allow_null=True, help_text="Null if unknown")
    refused = serializers.CharField(allow_blank=True, help_text="Why it cannot be launched here; empty where it can")


class StudySourceSerializer(serializers.Serializer):
    place = serializers.CharField()
    line = serializers.CharField(allow_blank=True, help_text="Of the seed's text")
    quote = serializers.CharField(allow_blank=True)


class StudySummarySerializer(serializers.Serializer):
    """A study in a list."""

    id = serializers.CharField()
    names = serializers.ListField(child=serializers.CharField(), help_text="Presets of its system that it has")
    system = serializers.CharField()
    seed = serializers.CharField(help_text="Number of the paper")
    title = serializers.CharField()
    question = serializers.CharField()
    says = serializers.CharField(allow_blank=True, help_text="Paraphrase of the published statement")
    experiment = serializers.CharField(allow_null=True, help_text="Latest experiment with results")
    scale: Any = serializers.ChoiceField(choices=SCALES, allow_null=True, help_text="Of that experiment")
    verdicts = serializers.DictField(child=serializers.CharField(), help_text="By criterion, of that experiment")


class StudySerializer(StudySummarySerializer):
    """A study with its definition, and what its runs came to."""

    sources = StudySourceSerializer(many=True)
    limits = serializers.ListField(child=serializers.CharField(), help_text="Limitations of its values")
    launches = StudyOfferSerializer(many=True)
    quick_differs = serializers.CharField(allow_blank=True, help_text="Differences of the quick scale")
    definition = serializers.CharField(help_text="YAML, at the scale shown")
    seeds = serializers.IntegerField(help_text="Seeds with all runs done; only these count")
    criteria = StudyCriterionSerializer(many=True)
    claims = StudyClaimSerializer(many=True)
    sentences = serializers.ListField(child=serializers.CharField(), help_text="The result in words")
    charts = ObjectsField()
    digest: Any = serializers.CharField(allow_null=True, help_text="Digest over the digests of its runs")


class StudyLaunchBody(Body):
    scale = serializers.ChoiceField(choices=SCALES, default=QUICK)


class StudyLaunchSerializer(LaunchSerializer):
    experiment = serializers.CharField()


class ExperimentClaimsSerializer(serializers.Serializer):
    """The result of the study that launched an experiment, as `python -m telemetry study ID --json`."""

    study = serializers.CharField()
    system = serializers.CharField()
    scale = serializers.ChoiceField(choices=SCALES)
    question = serializers.CharField()
    seeds = serializers.IntegerField()
    criteria = StudyCriterionSerializer(many=True)
    claims = StudyClaimSerializer(many=True)
    sentences = serializers.ListField(child=serializers.CharField(), help_text="The result in words")
    digest = serializers.CharField()


SCALE = OpenApiParameter("scale", str, enum=list(SCALES), description="Scale of the latest result; default: any")
ID = OpenApiParameter("id", str, "path")


class StudyViewSet(SparseFields, ViewSet):
    """Published figures and questions, each with its definition, criteria and latest result."""

    serializer_class = StudySerializer
    summary_serializer = StudySummarySerializer
    pagination_class = Pages
    lookup_value_regex = "[A-Za-z0-9._-]+"

    @extend_schema(
        parameters=[OpenApiParameter("system", str, description="Only those of this system")],
        responses=StudySummarySerializer(many=True),
    )
    def list(self, request: Request) -> Response:
        pages = Pages()
        found = services.of_system(request.query_params.get("system", ""))
        page = pages.paginate_queryset(found, request, view=self) or []
        verdicts = services.verdicts(page)
        return pages.get_paginated_response([_summary(one, verdicts) for one in page])

    @extend_schema(responses=StudySerializer, parameters=[ID, SCALE])
    def retrieve(self, request: Request, pk: str) -> Response:
        study, scale = _found(pk), request.query_params.get("scale", "")
        if scale and scale not in SCALES:
            raise InvalidSetting("scale", f"must be one of {', '.join(SCALES)}, not {shown(scale, 40)}")
        return Response(_whole(study, scale))

    @extend_schema(request=StudyLaunchBody, responses={201: StudyLaunchSerializer}, parameters=[ID])
    @action(detail=True, methods=["post"])
    def launch(self, request: Request, pk: str) -> Response:
        """Create an experiment at a scale and queue its runs; 409 while one is in progress."""
        study, body = _found(pk), StudyLaunchBody(data=request.data)
        body.is_valid(raise_exception=True)
        assert isinstance(request.user, User)
        experiment, launched = services.launch(study, body.validated_data["scale"], request.user)
        told = {**shown_launch(launched), "experiment": experiment.pk}
        return created(told, reverse("api:experiment-detail", args=[experiment.pk], request=request))


class ExperimentClaims(GenericViewSet):
    """Experiments that studies launched."""

    queryset = Experiment.objects.all()
    serializer_class = ExperimentClaimsSerializer

    @extend_schema(operation_id="experiments_claims", responses=ExperimentClaimsSerializer, filters=False)
    @action(detail=True)
    def claims(self, request: Request, pk: str) -> Response:
        """Claims of its study, evaluated with its runs; 404 if no study launched it."""
        experiment = self.get_object()
        study = services.find(experiment.study)
        if study is None:
            raise NotFound("No study launched this experiment.")
        result = services.result(study, experiment, experiment.scale)
        return Response(telling.document(result, services.digest(experiment)))


def _found(name: str) -> Study:
    try:
        return study_called(name)
    except InvalidSetting as error:
        raise NotFound(f"Study: {error.sentence}.") from None


def _summary(study: Study, verdicts: Any) -> dict[str, Any]:
    experiment, words = verdicts.get(study.id, (None, {}))
    return {
        **{name: getattr(study, name) for name in ("id", "names", "system", "title", "question", "says")},
        "seed": str(services.seed_of(study)),
        "experiment": experiment and experiment.pk,
        "scale": experiment and experiment.scale,
        "verdicts": words,
    }


def _whole(study: Study, scale: str) -> dict[str, Any]:
    experiment = services.newest(study, scale)
    result = services.result(study, experiment, scale or QUICK)
    document = telling.document(result, services.digest(experiment) if experiment else "")
    verdicts = (
        {study.id: (experiment, {one["id"]: one["verdict"] for one in document["criteria"]})} if experiment else {}
    )
    return {
        **_summary(study, verdicts),
        "sources": [{"place": one.place, "line": one.line, "quote": one.quote} for one in study.sources],
        "limits": list(study.limits),
        "launches": [StudyOfferSerializer(one).data for one in services.offers(study)],
        "quick_differs": study.quick_differs,
        "definition": documents.text(study.at(result.scale)),
        "charts": charts(result),
        **{name: document[name] for name in ("seeds", "criteria", "claims", "sentences")},
        "digest": document["digest"] or None,
    }
