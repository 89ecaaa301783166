"""``python -m overlay settings``: every setting of a broker, with its value in each profile.

Counterpart: ``docs/settings.md`` is the output of ``--markdown``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from overlay.core.settings import SettingInfo, Value, help_lines
from overlay.programs.arguments import OneLineParser
from overlay.systems.context_broker.profiles import PROFILE, PROFILES, SUMMARIES
from overlay.systems.context_broker.system import SYSTEM

SETTINGS = tuple(info for info in SYSTEM.settings if info is not PROFILE)

HEAD = """\
# Settings

Generated from the code by `python -m overlay settings --markdown`, which also lists strategies and policies that you
add; a test compares this page with its output. A profile is a named set of settings. Settings that it does not contain
have their defaults, which are the values of `plain`. Settings given explicitly override the profile. Values that differ
from the default are bold.
"""


def main(argv: list[str]) -> int:
    parser = OneLineParser(prog="overlay settings", description="Every setting of a broker, by profile.")
    parser.add_argument("--markdown", action="store_true", help="print docs/settings.md")
    parser.add_argument("--profile", choices=PROFILES, default="plain", help="profile to show; default: plain")
    options = parser.parse_args(argv)
    lines = _markdown() if options.markdown else _values(options.profile)
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0


def _values(profile: str) -> Iterator[str]:
    """One setting a line."""
    for info in SETTINGS:
        yield f"{info.name:<26}{_shown(PROFILES[profile].get(info.name, info.default))} {info.unit}".rstrip()


def _markdown() -> Iterator[str]:
    yield HEAD
    yield from (f"- `{name}`: {summary}" for name, summary in SUMMARIES.items())
    yield ""
    yield f"| setting | unit | {' | '.join(PROFILES)} |"
    yield f"|---|---|{'---|' * len(PROFILES)}"
    for info in SETTINGS:
        values = (_cell(info, name) for name in PROFILES)
        yield f"| `{info.name}` | {info.unit} | {' | '.join(values)} |"
    yield "\n## Descriptions\n"
    for info in SETTINGS:
        sentence, *choices = help_lines(info.help)
        yield f"- **`{info.name}`**{'' if choices else f' ({_range(info)})'}: {sentence}"
        for choice in choices:
            name, _, summary = choice.rstrip(".;").partition(": ")
            yield f"  - `{name}`: {summary}"


def _cell(info: SettingInfo, profile: str) -> str:
    value = PROFILES[profile].get(info.name, info.default)
    return f"**{_shown(value)}**" if value != info.default else _shown(value)


def _shown(value: Value) -> str:
    return ("off", "on")[value] if isinstance(value, bool) else str(value)


def _range(info: SettingInfo) -> str:
    """The permitted values."""
    if info.choices:
        return ", ".join(info.choices)
    if info.kind == "boolean":
        return "on or off"
    if info.low is not None and info.high is not None:
        return f"{info.low:,} to {info.high:,}"
    return info.kind
