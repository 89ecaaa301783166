"""Tables as ``pandas.DataFrame``. pandas is imported when the first one is made."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from waxwing.errors import WaxwingError

if TYPE_CHECKING:
    import pandas


def flat(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """One row each; nested objects become columns such as ``figures.p95``."""
    return _pandas().json_normalize(list(rows))


def of_parquet(content: bytes) -> pandas.DataFrame:
    return _pandas().read_parquet(io.BytesIO(content))


def of_series(series: Mapping[str, Any]) -> pandas.DataFrame:
    """The time series of a run: every list that is as long as ``t``, by seconds ``t`` since the start of measuring."""
    times = series.get("t") or []
    columns = {name: value for name, value in _lists(series) if len(value) == len(times) and name != "t"}
    return _pandas().DataFrame(columns, index=_pandas().Index(times, name="t"))


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
        raise WaxwingError("Tables need pandas and pyarrow: pip install 'waxwing[pandas]'") from None
    return pandas
