"""Searches rows, pages and actions by name: one small query per kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.urls import reverse

from brokerweb.experiments.models import Experiment, Run, SavedView, Tag
from brokerweb.finder.places import Place, places
from brokerweb.networks.models import Host, Network
from brokerweb.reports.models import Report, Schedule
from brokerweb.topologies.models import Topology
from overlay.core.errors import InvalidSetting
from overlay.experiment.whatif import in_words
from telemetry.formatting import counted, words
from telemetry.systems.registry import studies

LONGEST = 200
"""Maximum length of a search text."""
MOST_WORDS = 8
"""Maximum number of words; each is a condition in every query."""
MOST_OF_A_KIND = 5
EXACT, BEGINS, CONTAINS = range(3)
"""Quality of a match, best first."""


@dataclass(frozen=True, slots=True)
class Found:
    """One result."""

    kind: str
    name: str
    about: str
    address: str
    """Path of its page."""


@dataclass(frozen=True)
class Kind:
    """A kind of rows, and how to search and show them."""

    name: str
    rows: Callable[[User], QuerySet[Any]]
    """Rows visible to the account, in the order for equally good matches."""
    show: Callable[[Any], tuple[str, str, str]]
    """Name, short description and URL of a row."""
    named: str = "name"
    """The name field."""
    matches: Callable[[str], Q] | None = None
    """Further conditions for a word."""

    @property
    def called(self) -> tuple[str, ...]:
        """Words that narrow a search to this kind."""
        return self.name, f"{self.name}s", f"{self.name.removesuffix('y')}ies"

    def fits(self, word: str) -> Q:
        own = Q(**{f"{self.named}__icontains": word})
        return own | self.matches(word) if self.matches else own


def find(text: str, user: User, *, may_change: bool) -> list[Found]:
    """Results whose name contains every word of ``text``, best match first; for an empty text the first few of each
    kind.

    The name of a kind narrows the search: ``run 3 ring``. Raises ``InvalidSetting`` for ``q``.
    """
    if len(text) > LONGEST:
        raise InvalidSetting("q", f"accepts at most {LONGEST} characters, not {len(text)}")
    sought = text.replace("\0", " ").lower().split()
    if len(sought) > MOST_WORDS:
        raise InvalidSetting("q", f"accepts at most {MOST_WORDS} words, not {len(sought)}")
    fitting = [
        *_places(sought, may_change),
        *_studies(sought),
        *(hit for kind in KINDS for hit in _of_kind(kind, sought, user)),
    ]
    return [found for _, found in sorted(fitting, key=lambda hit: hit[0])]


def _places(sought: list[str], may_change: bool) -> Iterator[tuple[int, Found]]:
    allowed = [place for place in places() if may_change or not place.for_operators]
    hits = [(_fit(place.name, sought), place) for place in allowed if _has(place, sought)]
    for fit, place in sorted(hits, key=lambda hit: hit[0])[:MOST_OF_A_KIND]:
        yield fit, Found("page", place.name, place.about, reverse(place.url))


def _studies(sought: list[str]) -> Iterator[tuple[int, Found]]:
    named = [(f"{one.id}: {one.title}", one) for one in studies().values()]
    said = ((name, one, f"study {name} {one.question} {' '.join(one.names)}".lower()) for name, one in named)
    hits = [(_fit(name, sought), name, one) for name, one, text in said if all(word in text for word in sought)]
    for fit, name, one in sorted(hits, key=lambda hit: hit[0])[:MOST_OF_A_KIND]:
        yield fit, Found("study", name, one.question, reverse("studies:detail", args=[one.id]))


def _has(place: Place, sought: list[str]) -> bool:
    said = f"page {place.name} {place.about} {place.more}".lower()
    return all(word in said for word in sought)


def _fit(name: str, sought: list[str]) -> int:
    text, name = " ".join(sought), name.lower()
    return EXACT if name == text else BEGINS if text and name.startswith(text) else CONTAINS


def _of_kind(kind: Kind, sought: list[str], user: User) -> Iterator[tuple[int, Found]]:
    wanted = [word for word in sought if word not in kind.called]
    rows = kind.rows(user)
    for word in wanted:
        rows = rows.filter(kind.fits(word))
    if text := " ".join(wanted):
        exact, begins = Q(**{f"{kind.named}__iexact": text}), Q(**{f"{kind.named}__istartswith": text})
        fit = Case(
            When(exact, Value(EXACT)), When(begins, Value(BEGINS)), default=CONTAINS, output_field=IntegerField()
        )
        rows = rows.annotate(fit=fit).order_by("fit", *(rows.query.order_by or rows.model._meta.ordering))
    for row in rows[:MOST_OF_A_KIND]:
        name, about, address = kind.show(row)
        yield getattr(row, "fit", CONTAINS), Found(kind.name, name, about, address)


def _experiment(row: Experiment) -> tuple[str, str, str]:
    return row.name, f"{words(row.definition['engine'])} experiment", reverse("experiments:detail", args=[row.pk])


def _run(row: Run) -> tuple[str, str, str]:
    name = f"{row.experiment.name}, run {row.position + 1}"
    about = f"{row.state}, replicate {row.replicate}" + (f", what if: {in_words(row.change)}" if row.change else "")
    return name, about, reverse("runs:detail", args=[row.pk])


def _run_matches(word: str) -> Q:
    """By id, tag or number in its experiment."""
    fits = Q(pk__startswith=word) | Q(pk__in=Run.tags.through.objects.filter(tag__name=word).values("run"))
    return fits | Q(position=int(word) - 1) if word.isascii() and word.isdigit() and 0 < len(word) < 7 else fits


def _topology(row: Topology) -> tuple[str, str, str]:
    return row.name, f"{words(row.kind)}, {counted(row.brokers, 'broker')}", reverse("topologies:detail", args=[row.pk])


def _network(row: Network) -> tuple[str, str, str]:
    return row.name, str(row.state), reverse("networks:detail", args=[row.pk])


def _report(row: Report) -> tuple[str, str, str]:
    of = ", ".join(experiment.name for experiment in row.experiments.all())
    name = f"{row.get_kind_display()} of {of}" if of else str(row.get_kind_display())
    return name, str(row.state), reverse("reports:detail", args=[row.pk])


def _report_matches(word: str) -> Q:
    of = Report.experiments.through.objects.filter(experiment__name__icontains=word)
    return Q(pk__in=of.values("report")) | Q(pk__startswith=word)


def _schedule(row: Schedule) -> tuple[str, str, str]:
    return row.name, str(row.get_kind_display()), reverse("schedules:detail", args=[row.pk])


def _host(row: Host) -> tuple[str, str, str]:
    return row.name, "up" if row.alive else "away", reverse("hosts:list")


def _tag(row: Tag) -> tuple[str, str, str]:
    return row.name, "Runs with this tag", f"{reverse('runs:list')}?q=tag+%3D+{row.name}"


def _view(row: SavedView) -> tuple[str, str, str]:
    return (
        row.name,
        f"Saved view of {row.page}",
        f"{reverse('compare' if row.page == 'compare' else 'runs:list')}?{row.query}",
    )


KINDS = (
    Kind("experiment", lambda _: Experiment.objects.order_by("-created"), _experiment),
    Kind("topology", lambda _: Topology.objects.defer("sketch", "measures", "params").order_by("name"), _topology),
    Kind("network", lambda _: Network.objects.only("name", "state").order_by("name"), _network),
    Kind(
        "run",
        lambda _: (
            Run.objects.select_related("experiment")
            .only("position", "replicate", "state", "change", "experiment__name")
            .order_by("-created", "position")
        ),
        _run,
        "experiment__name",
        _run_matches,
    ),
    Kind(
        "report",
        lambda _: Report.objects.only("kind", "state").prefetch_related("experiments").order_by("-created"),
        _report,
        "kind",
        _report_matches,
    ),
    Kind("schedule", lambda _: Schedule.objects.order_by("name"), _schedule),
    Kind("host", lambda _: Host.objects.only("name", "heartbeat").order_by("name"), _host),
    Kind("tag", lambda _: Tag.objects.order_by("name"), _tag),
    Kind("view", lambda user: SavedView.objects.filter(owner=user).order_by("name"), _view),
)
