"""Tables as ``pandas.DataFrame``. pandas is imported when the first one is made."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from waxwing.errors import WaxwingError

if TYPE_CHECKING:
    import pandas

LACKING = (
    "Tables need pandas and pyarrow: pip install 'waxwing[pandas]'. Without them: runs.rows, runs.curves, runs.file"
)


def flat(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """One row each; nested objects become columns such as ``figures.p95``."""
    return _pandas().json_normalize(list(rows))


def of_parquet(content: bytes) -> pandas.DataFrame:
    return _pandas().read_parquet(io.BytesIO(content))


def of_series(columns: Mapping[str, Sequence[Any]]) -> pandas.DataFrame:
    """By seconds ``t``."""
    curves = {name: value for name, value in columns.items() if name != "t"}
    return _pandas().DataFrame(curves, index=_pandas().Index(columns.get("t", []), name="t"))


def columns(series: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Of the time series of a run: ``t``, in seconds since the start of measuring, and every list that is as long."""
    times = series.get("t") or []
    return {"t": times, **{name: one for name, one in _lists(series) if len(one) == len(times) and name != "t"}}


def check() -> None:
    """Raises ``WaxwingError`` if there can be no tables, before anything is fetched."""
    _pandas()
    if find_spec("pyarrow") is None:
        raise WaxwingError(LACKING)


def _lists(series: Mapping[str, Any], before: str = "") -> list[tuple[str, list[Any]]]:
    found: list[tuple[str, list[Any]]] = []
    for name, value in series.items():
        if isinstance(value, Mapping):
            found += _lists(value, f"{before}{name}.")
        elif isinstance(value, list):
            found.append((before + name, value))
    return found


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise WaxwingError(LACKING) from None
    return pandas
