"""What people write on runs: tags, a note, and that one is kept. Pages, REST and bulk actions are doors to this."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, Prefetch, QuerySet

from brokerweb.experiments.models import Run, Tag
from brokerweb.kit import stale
from brokerweb.kit.ids import in_chunks
from overlay.core.errors import InvalidSetting
from telemetry.filters.values import ANY, NONE

MOST_TAGS = 20
"""Of one run."""
MOST_NOTE = 4_000
_AT_HAND = "tags_at_hand"
_TAG = re.compile(r"[A-Za-z0-9_-]{1,40}")


def tag_name(text: object) -> str:
    """The tag that ``text`` says, in small letters. Raises ``InvalidSetting``."""
    name = text.strip().lower() if isinstance(text, str) else ""
    if not _TAG.fullmatch(name):
        raise InvalidSetting("tag", f"{text!r:.60} is no tag: 1 to 40 letters, digits, - and _ without spaces")
    if name in (NONE, ANY):
        raise InvalidSetting("tag", f"“{name}” cannot be a tag; in a filter it has a meaning of its own")
    return name


def tag_names(text: str) -> list[str]:
    """The tags of a line: words, with commas or spaces between. Raises ``InvalidSetting``."""
    return [tag_name(word) for word in text.replace(",", " ").split()]


def set_tags(run: Run, names: Iterable[str]) -> None:
    """Has ``run`` bear these tags and no others. Raises ``InvalidSetting``."""
    wanted = list(dict.fromkeys(tag_name(name) for name in names))
    if len(wanted) > MOST_TAGS:
        raise InvalidSetting("tags", f"a run has at most {MOST_TAGS} tags, not {len(wanted)}")
    with transaction.atomic():
        run.tags.set([Tag.objects.get_or_create(name=name)[0] for name in wanted])
        _forget_unused()


def with_tags(runs: QuerySet[Run]) -> QuerySet[Run]:
    """With the tags of each at hand for ``tags_of``, in a list: a manager in each takes as long as all the rest."""
    return runs.prefetch_related(None).prefetch_related(Prefetch("tags", to_attr=_AT_HAND))


def tags_of(run: Run) -> list[str]:
    """The names of its tags, sorted."""
    at_hand: list[Tag] | None = vars(run).get(_AT_HAND)
    return sorted(tag.name for tag in (run.tags.all() if at_hand is None else at_hand))


def written(run: Run) -> dict[str, Any]:
    """What is written on it."""
    return {"tags": tags_of(run), "note": run.note}


def change(run: Run, changes: Mapping[str, Any], seen: str = "") -> None:
    """``note``, ``tags`` and ``kept``, those that are named; all of them or none.

    Raises ``InvalidSetting``, and ``Outdated`` where tags or note are others than those ``seen``.
    """
    with transaction.atomic():
        _check_seen(run, seen)
        if "note" in changes:
            set_note(run, changes["note"])
        if "tags" in changes:
            set_tags(run, changes["tags"])
        if "kept" in changes:
            set_kept(run, changes["kept"])


def set_labels(run: Run, tags: str, note: str, seen: str = "") -> None:
    """Both as they are typed; where one of them is wrong, neither is changed.

    Raises ``InvalidSetting``, and ``Outdated`` where they are others than those ``seen``.
    """
    with transaction.atomic():
        _check_seen(run, seen)
        try:
            set_tags(run, tag_names(tags))
        except InvalidSetting as error:
            raise InvalidSetting("tags", error.sentence) from None
        set_note(run, note)


def _check_seen(run: Run, seen: str) -> None:
    stale.check(seen, written(Run.objects.select_for_update().get(pk=run.pk)))


def set_note(run: Run, text: object) -> None:
    """Raises ``InvalidSetting``."""
    if not isinstance(text, str) or len(text) > MOST_NOTE:
        raise InvalidSetting("note", f"must be a text of at most {MOST_NOTE:,} characters")
    run.note = text.strip()
    Run.objects.filter(pk=run.pk).update(note=run.note)


def set_kept(run: Run, kept: object) -> None:
    """Raises ``InvalidSetting``."""
    if not isinstance(kept, bool):
        raise InvalidSetting("kept", "must be true or false")
    run.kept = kept
    Run.objects.filter(pk=run.pk).update(kept=kept)


def keep_all(runs: Sequence[str], kept: bool) -> int:
    """``set_kept`` of the runs of these ids; how many there were."""
    with transaction.atomic():
        return sum(Run.objects.filter(pk__in=some).update(kept=kept) for some in in_chunks(runs))


def full_runs() -> Any:
    """The ids of runs that bear as many tags as a run may, as a query."""
    borne: Any = Run.tags.through.objects.values("run").annotate(borne=Count("pk"))
    return borne.filter(borne__gte=MOST_TAGS).values("run")


def tag_all(runs: Sequence[str], name: str) -> int:
    """Puts a tag on the runs of these ids; one that has it, is full, or is gone, is passed by.

    How many of them bear it then. Raises ``InvalidSetting``.
    """
    wanted, through = tag_name(name), Run.tags.through
    bear = 0
    with transaction.atomic():  # IMMEDIATE: nobody deletes a run, or the tag as one that no run bears, in between
        tag, _ = Tag.objects.get_or_create(name=wanted)
        for some in in_chunks(runs):
            free = Run.objects.filter(pk__in=some).exclude(pk__in=full_runs()).values_list("pk", flat=True)
            through.objects.bulk_create([through(run_id=run, tag=tag) for run in free], ignore_conflicts=True)
            bear += through.objects.filter(tag=tag, run_id__in=some).count()
        _forget_unused()
    return bear


def untag_all(runs: Sequence[str], name: str) -> int:
    """Takes a tag off the runs of these ids; how many had it."""
    with transaction.atomic():
        tagged = Run.tags.through.objects.filter(tag__name=name)
        had = sum(tagged.filter(run_id__in=some).delete()[0] for some in in_chunks(runs))
        _forget_unused()
    return had


def used_tags() -> QuerySet[Any]:
    """Every tag that a run bears, with ``runs_count``, by name."""
    return Tag.objects.annotate(runs_count=Count("runs")).filter(runs_count__gt=0).order_by("name")


def rename(tag: Tag, name: str) -> Tag:
    """Under the name of another tag the two become one. Raises ``InvalidSetting``."""
    wanted = tag_name(name)
    with transaction.atomic():
        other = Tag.objects.filter(name=wanted).exclude(pk=tag.pk).first()
        if other is None:
            tag.name = wanted
            tag.save()
            return tag
        runs = list(tag.runs.values_list("pk", flat=True))
        tag.delete()  # first: a run that is full has room for the other then
        tag_all(runs, wanted)
        return other


def _forget_unused() -> None:
    Tag.objects.filter(runs=None).delete()
