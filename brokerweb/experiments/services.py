"""Use cases of experiments and runs, called by pages, REST, the admin, tasks and commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from brokerweb.changelog.recording import CREATE, DELETE, logged, recorded, say, say_all
from brokerweb.definitions.references import References
from brokerweb.experiments import launch_tasks
from brokerweb.experiments import logged as declared  # noqa: F401 (what is compared)
from brokerweb.experiments.deletion_guards import is_needed
from brokerweb.experiments.estimates import checked_body, references_of
from brokerweb.experiments.models import Experiment, Run, RunEvent, RunState
from brokerweb.experiments.run_durations import pace_of
from brokerweb.experiments.standing import Stand, split
from brokerweb.experiments.states import ENDED, NEVER_BEGAN, cancel_queued, move, note
from brokerweb.kit.errors import NotPossible
from brokerweb.kit.ids import in_chunks, is_id, new_id
from brokerweb.storage import files, free_space
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.core.chance import derive_seed
from overlay.core.engines import LIVE
from overlay.core.errors import InvalidSetting
from overlay.experiment import sweeps
from overlay.experiment.definition import configurations
from telemetry.formatting import counted


@dataclass(frozen=True)
class Launch:
    """The result of a launch."""

    runs: list[Run]
    estimated_s: float
    skipped: list[Stand] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.runs)


def find_topology(topology_id: str) -> dict[str, Any] | None:
    """The document of a topology, or ``None``."""
    topology = Topology.objects.filter(pk=topology_id).first()
    return topologies.document(topology) if topology else None


@logged(CREATE, by="owner")
def create(
    body: Mapping[str, Any],
    owner: User | None = None,
    *,
    report_when_done: bool = False,
    demo: bool = False,
    study: str = "",
    scale: str = "",
) -> Experiment:
    """Create an experiment from the body of ``POST /api/experiments/``, with its new topologies.

    Raises ``InvalidSetting``.
    """
    return Experiment.objects.create(**_row(body, owner, report_when_done), demo=demo, study=study, scale=scale)


@transaction.atomic
def create_once(
    body: Mapping[str, Any], owner: User, token: str, *, report_when_done: bool, launches: bool
) -> tuple[Experiment, Launch | None]:
    """Create an experiment, and launch it if requested, once per form.

    ``token`` identifies the form. If it is sent again with the same definition, the existing experiment is returned and
    nothing is launched; with another definition, a new experiment is created. Raises ``InvalidSetting``.
    """
    row = _row(body, owner, report_when_done)
    made, is_new = Experiment.objects.get_or_create(pk=token if is_id(token) else new_id(), defaults=row)
    if not is_new and (made.owner_id, made.definition) == (owner.pk, row["definition"]):
        return made, None
    with recorded(CREATE, by=owner) as record:
        made = record.row = made if is_new else Experiment.objects.create(**row)
    return made, launch(made, owner) if launches else None


def _row(body: Mapping[str, Any], owner: User | None, report_when_done: bool) -> dict[str, Any]:
    references = references_of(body)
    definition = references.made(checked_body(body, references)[0], owner)
    name = definition["name"].strip()
    return {"name": name, "definition": definition, "owner": owner, "report_when_done": report_when_done}


@transaction.atomic
def launch(
    experiment: Experiment, owner: User | None = None, *, if_runs: int | None = None, skip_existing: bool = False
) -> Launch:
    """Create the runs in random order and queue them. Raises ``InvalidSetting`` if a topology is missing or invalid.

    ``skip_existing`` leaves out runs that finished ones stand for.

    ``if_runs`` is the number of runs, without what-if runs, that the caller expects the experiment to have. Raises
    ``NotPossible`` if it differs, so that a request sent twice launches once.
    """
    if full := free_space.refusal():
        raise InvalidSetting("disk", full)
    if if_runs is not None:
        Experiment.objects.select_for_update().get(
            pk=experiment.pk
        )  # a concurrent request for the same launch waits here
        has = experiment.runs.unchanged().count()
        if has != if_runs:
            raise NotPossible(f"Not launched: the experiment has {counted(has, 'run')} now, not {if_runs:,}.")
    definition = experiment.definition
    pace = pace_of(definition["engine"])
    chosen = configurations(definition, References().find)
    pairs = [(configuration, r) for configuration in chosen for r in range(definition["replicates"])]
    pairs, skipped = split(pairs, definition["seed"]) if skip_existing else (pairs, [])
    # Random order spreads drift (temperature, other load) over all configurations.
    Random(derive_seed(definition["seed"], "order")).shuffle(pairs)
    now = timezone.now()  # one timestamp for all, so that lists sort by position within a launch
    asked_at = launch_tasks.now_if_asked() if definition["engine"] == LIVE else None
    runs = [
        Run(
            experiment=experiment,
            created=now,
            position=position,
            configuration=configuration,
            configuration_hash=sweeps.configuration_hash(configuration),
            replicate=replicate,
            seed=str(derive_seed(definition["seed"], replicate)),
            estimated_s=pace.run_s(configuration),
            asked_at=asked_at,
            owner=owner,
        )
        for position, (configuration, replicate) in enumerate(pairs)
    ]
    Run.objects.bulk_create(runs)
    say("experiment", experiment.pk, experiment.name, "launch", after={"runs": len(runs)}, by=owner)
    RunEvent.objects.bulk_create(RunEvent(run=run, name=RunState.QUEUED) for run in runs)
    transaction.on_commit(launch_tasks.launch_next)
    return Launch(runs, round(pace.all_s([run.estimated_s for run in runs]), 1), skipped)


def runs_by_state(experiments: Iterable[Experiment]) -> dict[str, dict[str, int]]:
    """Number of runs by state and experiment id, without what-if runs."""
    found: dict[str, dict[str, int]] = {experiment.pk: {} for experiment in experiments}
    rows = Run.objects.unchanged().filter(experiment__in=found).order_by().values_list("experiment", "state")
    for experiment, state, count in rows.annotate(Count("pk")):
        found[experiment][state] = count
    return found


@logged("cancel")
def cancel(run: Run) -> Run:
    """Cancel a run: a queued one at once, an active one soon. Data measured so far is kept.

    Raises ``NotPossible`` for a run that has ended.
    """
    with transaction.atomic():  # IMMEDIATE: it cannot end between the check and the request
        run.refresh_from_db()
        if run.state in ENDED:
            raise NotPossible(f"This run is already {run.state}.")
        if run.state == RunState.QUEUED:
            move(run, RunState.CANCELLED, NEVER_BEGAN)
        elif not run.cancel_requested:
            Run.objects.filter(pk=run.pk).update(cancel_requested=True)
            note(run, "cancel requested")
            transaction.on_commit(lambda: launch_tasks.stop(run))
    run.refresh_from_db()
    return run


def rerun(run: Run, owner: User | None = None) -> Run:
    """Run the same configuration with the same seed again, as a new run."""
    return rerun_all([run], owner)[0]


@transaction.atomic
def rerun_all(runs: Iterable[Run], owner: User | None = None) -> list[Run]:
    """``rerun`` each run, in order."""
    again = [_again(run, owner) for run in runs]
    say_all((_named(run.rerun_of) for run in again if run.rerun_of), "rerun", by=owner)
    Run.objects.bulk_create(again, batch_size=500)
    RunEvent.objects.bulk_create(
        RunEvent(run=run, name=RunState.QUEUED, detail=f"Rerun of run {run.rerun_of_id} with the same seed.")
        for run in again
    )
    transaction.on_commit(launch_tasks.launch_next)
    return again


@transaction.atomic
def rerun_each(ids: Sequence[str], owner: User | None = None) -> int:
    """``rerun`` each existing run, in order; returns their number."""
    return sum(len(rerun_all(_rows(chunk), owner)) for chunk in in_chunks(ids))


def _rows(ids: Sequence[str]) -> Iterator[Run]:
    rows = Run.objects.select_related("experiment").defer("summary", "observed").in_bulk(list(ids))
    return (rows[pk] for pk in ids if pk in rows)


def _again(run: Run, owner: User | None) -> Run:
    return Run(
        experiment=run.experiment,
        position=run.position,
        configuration=run.configuration,
        configuration_hash=run.configuration_hash,
        replicate=run.replicate,
        seed=run.seed,
        estimated_s=run.estimated_s,
        rerun_of=run,
        asked_at=launch_tasks.now_if_asked() if run.engine == LIVE else None,
        compared_with_id=run.compared_with_id,
        change=run.change,
        owner=owner,
    )


def _named(run: Run) -> tuple[str, str, str]:
    return "run", run.pk, str(run)


def retry_failed(experiment: Experiment, owner: User | None = None) -> Launch:
    """Rerun the failed runs of an experiment with their configurations and seeds, except those already retried.

    Raises ``NotPossible`` if there is none.
    """
    failed = experiment.runs.unchanged().filter(state=RunState.FAILED, reruns=None).defer("observed", "summary")
    again = rerun_all(failed.order_by("position"), owner)
    if not again:
        raise NotPossible("There are no failed runs, or all of them were already retried.")
    return Launch(again, round(pace_of(experiment.definition["engine"]).all_s([run.estimated_s for run in again]), 1))


def cancel_all(experiment: Experiment) -> int:
    """Cancel unfinished runs; returns their number."""
    return cancel_each(list(experiment.runs.exclude(state__in=ENDED).values_list("pk", flat=True)))


def cancel_each(ids: Sequence[str]) -> int:
    """``cancel`` each run, queued ones first, so that none starts meanwhile. Returns the number of unfinished runs."""
    queued = {pk for chunk in in_chunks(ids) for pk in _cancel_queued(chunk)}
    cancelled = len(queued)
    for chunk in in_chunks([pk for pk in ids if pk not in queued]):
        for run in Run.objects.filter(pk__in=chunk).exclude(state__in=ENDED).defer("summary", "observed"):
            try:
                cancel(run)
                cancelled += 1
            except NotPossible:
                continue  # it ended meanwhile
    return cancelled


@transaction.atomic
def _cancel_queued(ids: Sequence[str]) -> set[str]:
    found = cancel_queued(ids)
    states = ({"state": RunState.QUEUED}, {"state": RunState.CANCELLED})
    say_all((("run", pk, f"Run {pk}") for pk in sorted(found)), "cancel", *states)
    return found


def delete(experiment: Experiment) -> None:
    """Delete an experiment, its runs and their files. Raises ``NotPossible`` while a run has not ended."""
    with transaction.atomic():
        if experiment.runs.exclude(state__in=ENDED).exists():
            raise NotPossible("This experiment has unfinished runs. Cancel them first.")
        if experiment.runs.filter(is_needed()).exists():
            raise NotPossible("A report of this experiment is in progress. Wait for it or cancel it first.")
        runs = list(experiment.runs.values_list("pk", flat=True))
        with recorded(DELETE, experiment) as record:
            record.said["runs"] = len(runs)
            experiment.delete()
    for run in runs:  # delete rows first: files without a row are harmless, rows without files are not
        files.remove_whole_run(run)


def seed_of(run: Run) -> int:
    """The run's 64-bit seed."""
    try:
        return int(run.seed)
    except ValueError:
        raise InvalidSetting("seed", f"{run.seed!r:.30} is not a number") from None
