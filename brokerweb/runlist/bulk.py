"""Actions on many runs: planned for a preview, then applied. Shared by pages and REST."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from brokerweb.changelog.recording import say_all
from brokerweb.experiments import labels, services
from brokerweb.experiments.deletion_guards import is_needed
from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.kit.ids import in_chunks
from brokerweb.storage import files
from overlay.core.errors import InvalidSetting, shown
from telemetry.formatting import counted, duration

CANCEL, RERUN, TAG, UNTAG, KEEP, UNKEEP, DELETE = "cancel", "rerun", "tag", "untag", "keep", "unkeep", "delete"
ACTIONS: Mapping[str, str] = {
    CANCEL: "Cancel",
    RERUN: "Rerun",
    TAG: "Add tag",
    UNTAG: "Remove tag",
    KEEP: "Keep",
    UNKEEP: "Stop keeping",
    DELETE: "Delete",
}
"""Button labels by name."""
MOST_RUNS = 5_000


@dataclass(frozen=True, slots=True)
class Plan:
    """The effect of an action on the selected runs."""

    action: str
    tag: str
    chosen: int
    runs: tuple[str, ...]
    """Runs it would change; when cancelling, the last queued first, so that none starts meanwhile."""
    states: Mapping[str, int]
    """Number of these by state."""
    left: Mapping[str, int] = field(default_factory=dict)
    """Number of unchanged selected runs by reason."""
    estimated_s: float = 0.0
    """Estimated seconds to rerun them one at a time."""

    @property
    def sentence(self) -> str:
        """``Cancel 14 runs: 12 queued, 2 measuring. 3 selected runs have ended and are skipped.``"""
        if not self.chosen:
            return "No run is selected."
        if not self.runs:
            return f"No changes: {self._left_words()}"
        states = ", ".join(f"{number:,} {state}" for state, number in self.states.items())
        said = [f"{self._does}: {states}."]
        if self.action == RERUN:
            said.append(f"Same configurations and seeds, about {duration(self.estimated_s)} in total.")
        if self.action == DELETE:
            said.append("Samples, journals, events and notes are deleted. This cannot be undone.")
        if self.left:
            said.append(self._left_words())
        return " ".join(said)

    @property
    def _does(self) -> str:
        runs = counted(len(self.runs), "run")
        return {
            CANCEL: f"Cancel {runs}",
            RERUN: f"Rerun {runs}",
            TAG: f"Add the tag {self.tag} to {runs}",
            UNTAG: f"Remove the tag {self.tag} from {runs}",
            KEEP: f"Keep {runs}",
            UNKEEP: f"Stop keeping {runs}",
            DELETE: f"Delete {runs}",
        }[self.action]

    @property
    def mark(self) -> str:
        """A digest of these runs, so that the confirmation applies to the preview."""
        return blake2b("\n".join(sorted(self.runs)).encode(), digest_size=16).hexdigest()

    @property
    def button(self) -> str:
        """The button's label."""
        return self._does

    @property
    def was_done(self) -> str:
        """The message after the action."""
        runs = counted(len(self.runs), "run")
        return {
            CANCEL: f"Cancelled {runs}. Data measured so far is kept.",
            RERUN: f"Queued {runs} again with the same configurations and seeds.",
            TAG: f"Added the tag {self.tag} to {runs}.",
            UNTAG: f"Removed the tag {self.tag} from {runs}.",
            KEEP: f"Kept {runs}: exempt from retention.",
            UNKEEP: f"Stopped keeping {runs}.",
            DELETE: f"Deleted {runs}.",
        }[self.action]

    def _left_words(self) -> str:
        said = [f"{counted(number, 'selected run')} {_REASONS[why][number != 1]}" for why, number in self.left.items()]
        return f"{', '.join(said)}."


ENDED_ALREADY, NOT_ENDED = "have ended and are left", "have not ended and are left"
KEPT, NOT_KEPT, KEPT_ALREADY = "are kept and are left", "are not kept", "are kept already"
REPORTED = "are in a report that is being made and are left"
TAGGED, NOT_TAGGED = "have that tag already", "do not have that tag"
FULL = f"bear {labels.MOST_TAGS} tags, the most that a run may, and are left"
"""Reasons as REST names them in ``left``; ``_REASONS`` has them as sentences of the preview."""
_REASONS = {
    ENDED_ALREADY: ("has ended and is skipped", "have ended and are skipped"),
    NOT_ENDED: ("has not ended and is skipped", "have not ended and are skipped"),
    KEPT: ("is kept and is skipped", "are kept and are skipped"),
    REPORTED: ("is in a report in progress and is skipped", "are in a report in progress and are skipped"),
    NOT_KEPT: ("is not kept", "are not kept"),
    KEPT_ALREADY: ("is already kept", "are already kept"),
    TAGGED: ("already has this tag", "already have this tag"),
    FULL: (
        f"has {labels.MOST_TAGS} tags, the maximum, and is skipped",
        f"have {labels.MOST_TAGS} tags, the maximum, and are skipped",
    ),
    NOT_TAGGED: ("does not have this tag", "do not have this tag"),
}
"""By reason, the singular and the plural."""


def plan(action: str, rows: QuerySet[Run], tag: str = "") -> Plan:
    """The effect of ``action`` on ``rows``; nothing is changed. Raises ``InvalidSetting``."""
    if action not in ACTIONS:
        raise InvalidSetting("action", f"must be one of {', '.join(ACTIONS)}, not {shown(action, 40)}")
    tag = labels.tag_name(tag) if action in (TAG, UNTAG) else ""
    found = list(
        rows.order_by("-created", "-position").values_list("pk", "state", "kept", "estimated_s")[: MOST_RUNS + 1]
    )
    if len(found) > MOST_RUNS:
        raise InvalidSetting("runs", f"more than {MOST_RUNS:,} runs are selected; narrow the filter")
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
    """The reason why a run is skipped; empty if it is not."""
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
    """Apply a plan; runs that changed meanwhile are skipped."""
    if planned.action == CANCEL:
        services.cancel_each(planned.runs)
    elif planned.action == RERUN:
        services.rerun_each(planned.runs[::-1], owner)  # in the order of their first execution
    elif planned.action == TAG:
        labels.tag_all(planned.runs, planned.tag)
    elif planned.action == UNTAG:
        labels.untag_all(planned.runs, planned.tag)
    elif planned.action == DELETE:
        _delete(planned.runs)
    else:
        labels.keep_all(planned.runs, planned.action == KEEP)


def _delete(ids: Sequence[str]) -> None:
    """Rows first: files without a row are harmless, a row without files is not."""
    for chunk in in_chunks(ids):
        with transaction.atomic():
            free = Run.objects.filter(pk__in=chunk, state__in=ENDED, kept=False).exclude(is_needed())
            going = list(free.values_list("pk", flat=True))
            say_all((("run", pk, f"Run {pk}") for pk in going), "delete")
            Run.objects.filter(pk__in=going).delete()
        for run in going:
            files.remove_whole_run(run)
