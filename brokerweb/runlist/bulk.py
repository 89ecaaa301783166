"""One thing done with many runs: planned first, so that it can be shown, then carried out. Pages and REST share it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from brokerweb.experiments import labels, services
from brokerweb.experiments.models import Run
from brokerweb.experiments.needed import is_needed
from brokerweb.experiments.states import ENDED
from brokerweb.kit.ids import in_chunks
from brokerweb.storage import files
from overlay.core.errors import InvalidSetting
from telemetry.formatting import counted, duration

CANCEL, RERUN, TAG, UNTAG, KEEP, UNKEEP, DELETE = "cancel", "rerun", "tag", "untag", "keep", "unkeep", "delete"
ACTIONS: Mapping[str, str] = {
    CANCEL: "Cancel",
    RERUN: "Run again",
    TAG: "Put a tag on",
    UNTAG: "Take a tag off",
    KEEP: "Keep from retention",
    UNKEEP: "Leave to retention",
    DELETE: "Delete",
}
"""By name, as a button says it."""
MOST_RUNS = 5_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What an action would do with the runs that were chosen."""

    action: str
    tag: str
    chosen: int
    runs: tuple[str, ...]
    """Those that it would change; of runs to cancel the last queued first, so that none begins meanwhile."""
    states: Mapping[str, int]
    """How many of these are in each state."""
    left: Mapping[str, int] = field(default_factory=dict)
    """Why others of those chosen are left as they are, and how many."""
    estimated_s: float = 0.0
    """What running them again takes, one after the other."""

    @property
    def sentence(self) -> str:
        """``Cancel 14 runs: 12 queued, 2 measuring. 3 of those chosen have ended and are left.``"""
        if not self.chosen:
            return "No run is chosen."
        if not self.runs:
            return f"Nothing to do: {self._left_words()}"
        states = ", ".join(f"{number:,} {state}" for state, number in self.states.items())
        said = [f"{self._does}: {states}."]
        if self.action == RERUN:
            said.append(f"Each with its configuration and its seed, about {duration(self.estimated_s)} in all.")
        if self.action == DELETE:
            said.append("Their samples, journals, events and notes are lost. This cannot be undone.")
        if self.left:
            said.append(self._left_words())
        return " ".join(said)

    @property
    def _does(self) -> str:
        runs = counted(len(self.runs), "run")
        return {
            CANCEL: f"Cancel {runs}",
            RERUN: f"Run {runs} again",
            TAG: f"Put the tag {self.tag} on {runs}",
            UNTAG: f"Take the tag {self.tag} off {runs}",
            KEEP: f"Keep {runs} from retention",
            UNKEEP: f"Leave {runs} to retention",
            DELETE: f"Delete {runs}",
        }[self.action]

    @property
    def mark(self) -> str:
        """Stands for these very runs, so that what is confirmed is what was shown."""
        return blake2b("\n".join(sorted(self.runs)).encode(), digest_size=16).hexdigest()

    @property
    def button(self) -> str:
        """What pressing does."""
        return self._does

    @property
    def was_done(self) -> str:
        """Once it was carried out."""
        runs = counted(len(self.runs), "run")
        return {
            CANCEL: f"Cancelled {runs}; what was measured is kept.",
            RERUN: f"Queued {runs} again, each with its configuration and its seed.",
            TAG: f"Put the tag {self.tag} on {runs}.",
            UNTAG: f"Took the tag {self.tag} off {runs}.",
            KEEP: f"Retention passes {runs} by from now on.",
            UNKEEP: f"Left {runs} to retention.",
            DELETE: f"Deleted {runs}.",
        }[self.action]

    def _left_words(self) -> str:
        said = [
            f"{number:,} of those chosen {_OF_ONE[why] if number == 1 else why}" for why, number in self.left.items()
        ]
        return f"{', '.join(said)}."


ENDED_ALREADY, NOT_ENDED = "have ended and are left", "have not ended and are left"
KEPT, NOT_KEPT, KEPT_ALREADY = "are kept and are left", "are not kept", "are kept already"
REPORTED = "are in a report that is being made and are left"
TAGGED, NOT_TAGGED = "have that tag already", "do not have that tag"
FULL = f"bear {labels.MOST_TAGS} tags, the most that a run may, and are left"
_OF_ONE = {
    ENDED_ALREADY: "has ended and is left",
    NOT_ENDED: "has not ended and is left",
    KEPT: "is kept and is left",
    REPORTED: "is in a report that is being made and is left",
    NOT_KEPT: "is not kept",
    KEPT_ALREADY: "is kept already",
    TAGGED: "has that tag already",
    FULL: f"bears {labels.MOST_TAGS} tags, the most that a run may, and is left",
    NOT_TAGGED: "does not have that tag",
}


def plan(action: str, rows: QuerySet[Run], tag: str = "") -> Plan:
    """What ``action`` would do with ``rows``; nothing is changed. Raises ``InvalidSetting``."""
    if action not in ACTIONS:
        raise InvalidSetting("action", f"must be one of {', '.join(ACTIONS)}, not {action!r:.40}")
    tag = labels.tag_name(tag) if action in (TAG, UNTAG) else ""
    found = list(
        rows.order_by("-created", "-position").values_list("pk", "state", "kept", "estimated_s")[: MOST_RUNS + 1]
    )
    if len(found) > MOST_RUNS:
        raise InvalidSetting("runs", f"more than {MOST_RUNS:,} are chosen; narrow the filter")
    tagged = set(rows.filter(tags__name=tag).values_list("pk", flat=True)) if tag else set()
    full = set(rows.filter(pk__in=labels.full_runs()).values_list("pk", flat=True)) if action == TAG else set()
    reported = set(rows.filter(is_needed()).values_list("pk", flat=True)) if action == DELETE else set()
    changed, left = [], Counter[str]()
    for pk, state, kept, estimated_s in found:
        why = _why_left(
            action, state, is_kept=kept, is_tagged=pk in tagged, is_full=pk in full, is_reported=pk in reported
        )
        if why:
            left[why] += 1
        else:
            changed.append((pk, state, estimated_s))
    return Plan(
        action,
        tag,
        len(found),
        tuple(pk for pk, _, _ in changed),
        dict(Counter(state for _, state, _ in changed)),
        dict(left),
        sum(estimated_s for _, _, estimated_s in changed),
    )


def _why_left(action: str, state: str, *, is_kept: bool, is_tagged: bool, is_full: bool, is_reported: bool) -> str:
    """Why a run is left as it is; empty if it is not."""
    has_ended = state in ENDED
    reasons = {
        CANCEL: ENDED_ALREADY if has_ended else "",
        RERUN: "" if has_ended else NOT_ENDED,
        TAG: TAGGED if is_tagged else FULL if is_full else "",
        UNTAG: "" if is_tagged else NOT_TAGGED,
        KEEP: KEPT_ALREADY if is_kept else "",
        UNKEEP: "" if is_kept else NOT_KEPT,
        DELETE: NOT_ENDED if not has_ended else KEPT if is_kept else REPORTED if is_reported else "",
    }
    return reasons[action]


def carry_out(planned: Plan, owner: User | None = None) -> None:
    """Does what was planned; runs that changed meanwhile are left as they are."""
    if planned.action == CANCEL:
        services.cancel_each(planned.runs)
    elif planned.action == RERUN:
        services.rerun_each(planned.runs[::-1], owner)  # in the order in which they went
    elif planned.action == TAG:
        labels.tag_all(planned.runs, planned.tag)
    elif planned.action == UNTAG:
        labels.untag_all(planned.runs, planned.tag)
    elif planned.action == DELETE:
        _delete(planned.runs)
    else:
        labels.keep_all(planned.runs, planned.action == KEEP)


def _delete(ids: Sequence[str]) -> None:
    """Rows first: files without a row are out of sight, a row without files would promise what is gone."""
    for chunk in in_chunks(ids):
        with transaction.atomic():
            free = Run.objects.filter(pk__in=chunk, state__in=ENDED, kept=False).exclude(is_needed())
            going = list(free.values_list("pk", flat=True))
            Run.objects.filter(pk__in=going).delete()
        for run in going:
            files.remove_whole_run(run)
