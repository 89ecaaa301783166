"""Tags, notes and the keep flag of runs. Called by pages, REST and bulk actions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, Prefetch, QuerySet

from brokerweb.changelog.recording import CHANGE, logged, say_all
from brokerweb.experiments import logged as declared  # noqa: F401 (what is compared)
from brokerweb.experiments.models import Run, Tag
from brokerweb.kit import etags
from brokerweb.kit.ids import in_chunks
from overlay.core.errors import InvalidSetting
from telemetry.filters.values import ANY, NONE

MOST_TAGS = 20
"""Per run."""
MOST_NOTE = 4_000
_AT_HAND = "tags_at_hand"
_TAG = re.compile(r"[A-Za-z0-9_-]{1,40}")


def tag_name(text: object) -> str:
    """The tag in ``text``, in lower case. Raises ``InvalidSetting``."""
    name = text.strip().lower() if isinstance(text, str) else ""
    if not _TAG.fullmatch(name):
        raise InvalidSetting(
            "tag", f"{text!r:.60} is not a valid tag: use 1 to 40 letters, digits, - and _ without spaces"
        )
    if name in (NONE, ANY):
        raise InvalidSetting("tag", f"“{name}” cannot be a tag; it is a reserved word of the filter language")
    return name


def tag_names(text: str) -> list[str]:
    """The tags in a line, separated by commas or spaces. Raises ``InvalidSetting``."""
    return [tag_name(word) for word in text.replace(",", " ").split()]


def set_tags(run: Run, names: Iterable[str]) -> None:
    """Replace the tags of ``run``. Raises ``InvalidSetting``."""
    wanted = list(dict.fromkeys(tag_name(name) for name in names))
    if len(wanted) > MOST_TAGS:
        raise InvalidSetting("tags", f"a run has at most {MOST_TAGS} tags, not {len(wanted)}")
    with transaction.atomic():
        run.tags.set([Tag.objects.get_or_create(name=name)[0] for name in wanted])
        _forget_unused()


def with_tags(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Prefetch tags for ``tags_of`` into a list: a related manager per run is as slow as the rest of the query."""
    return runs.prefetch_related(None).prefetch_related(Prefetch("tags", to_attr=_AT_HAND))


def tags_of(run: Run) -> list[str]:
    """The names of its tags, sorted."""
    at_hand: list[Tag] | None = vars(run).get(_AT_HAND)
    return sorted(tag.name for tag in (run.tags.all() if at_hand is None else at_hand))


def written(run: Run) -> dict[str, Any]:
    """The current tags and note."""
    return {"tags": tags_of(run), "note": run.note}


@logged(CHANGE)
def change(run: Run, changes: Mapping[str, Any], seen: str = "") -> None:
    """Change ``note``, ``tags`` and ``kept`` where given; all of them or none.

    Raises ``InvalidSetting``, and ``Outdated`` if tags or note differ from ``seen``.
    """
    with transaction.atomic():
        _check_seen(run, seen)
        if "note" in changes:
            set_note(run, changes["note"])
        if "tags" in changes:
            set_tags(run, changes["tags"])
        if "kept" in changes:
            set_kept(run, changes["kept"])


@logged(CHANGE)
def set_labels(run: Run, tags: str, note: str, seen: str = "") -> None:
    """Set tags and note from a form; if one is invalid, neither is changed.

    Raises ``InvalidSetting``, and ``Outdated`` if they differ from ``seen``.
    """
    with transaction.atomic():
        _check_seen(run, seen)
        try:
            set_tags(run, tag_names(tags))
        except InvalidSetting as error:
            raise InvalidSetting("tags", error.sentence) from None
        set_note(run, note)


def _check_seen(run: Run, seen: str) -> None:
    etags.check(seen, written(Run.objects.select_for_update().get(pk=run.pk)))


def set_note(run: Run, text: object) -> None:
    """Raises ``InvalidSetting``."""
    if not isinstance(text, str) or len(text) > MOST_NOTE:
        raise InvalidSetting("note", f"must be a string of at most {MOST_NOTE:,} characters")
    run.note = text.strip()
    Run.objects.filter(pk=run.pk).update(note=run.note)


def set_kept(run: Run, kept: object) -> None:
    """Raises ``InvalidSetting``."""
    if not isinstance(kept, bool):
        raise InvalidSetting("kept", "must be true or false")
    run.kept = kept
    Run.objects.filter(pk=run.pk).update(kept=kept)


def keep_all(runs: Sequence[str], kept: bool) -> int:
    """``set_kept`` for the runs with these ids; returns their number."""
    number = 0
    with transaction.atomic():
        for some in in_chunks(runs):
            rows = Run.objects.filter(pk__in=some)
            _say(rows.exclude(kept=kept).values_list("pk", flat=True), {"kept": not kept}, {"kept": kept})
            number += rows.update(kept=kept)
    return number


def _say(runs: Iterable[str], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
    say_all([("run", run, f"Run {run}") for run in runs], CHANGE, before, after)


def full_runs() -> Any:
    """A query of the ids of runs with the maximum number of tags."""
    borne: Any = Run.tags.through.objects.values("run").annotate(borne=Count("pk"))
    return borne.filter(borne__gte=MOST_TAGS).values("run")


def tag_all(runs: Sequence[str], name: str) -> int:
    """Add a tag to the runs with these ids; skips runs that have it, are full or were deleted.

    Returns the number of runs that have it now. Raises ``InvalidSetting``.
    """
    wanted, through = tag_name(name), Run.tags.through
    bear = 0
    with transaction.atomic():  # IMMEDIATE: no run, and no unused tag, is deleted in between
        tag, _ = Tag.objects.get_or_create(name=wanted)
        for some in in_chunks(runs):
            free = Run.objects.filter(pk__in=some).exclude(pk__in=full_runs()).values_list("pk", flat=True)
            _say(
                set(free) - set(through.objects.filter(tag=tag, run_id__in=some).values_list("run", flat=True)),
                {},
                {"added tag": wanted},
            )
            through.objects.bulk_create([through(run_id=run, tag=tag) for run in free], ignore_conflicts=True)
            bear += through.objects.filter(tag=tag, run_id__in=some).count()
        _forget_unused()
    return bear


def untag_all(runs: Sequence[str], name: str) -> int:
    """Remove a tag from the runs with these ids; returns how many had it."""
    with transaction.atomic():
        tagged = Run.tags.through.objects.filter(tag__name=name)
        had = 0
        for some in in_chunks(runs):
            of_these = tagged.filter(run_id__in=some)
            _say(of_these.values_list("run", flat=True), {"removed tag": name}, {})
            had += of_these.delete()[0]
        _forget_unused()
    return had


def used_tags() -> QuerySet[Any]:
    """All tags in use with ``runs_count``, sorted by name."""
    return Tag.objects.annotate(runs_count=Count("runs")).filter(runs_count__gt=0).order_by("name")


def rename(tag: Tag, name: str) -> Tag:
    """Rename a tag; if the name is taken, the two tags are merged. Raises ``InvalidSetting``."""
    wanted = tag_name(name)
    with transaction.atomic():
        other = Tag.objects.filter(name=wanted).exclude(pk=tag.pk).first()
        if other is None:
            tag.name = wanted
            tag.save()
            return tag
        runs = list(tag.runs.values_list("pk", flat=True))
        tag.delete()  # first, so that a run with the maximum number of tags can take the other one
        tag_all(runs, wanted)
        return other


def _forget_unused() -> None:
    Tag.objects.filter(runs=None).delete()
