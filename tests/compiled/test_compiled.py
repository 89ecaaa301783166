"""Hot paths as machine code: the same results, from these sources only."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from overlay.compiled import build as builds
from overlay.compiled.build import build, dependencies, is_built, obstacle, sources, try_out
from overlay.compiled.finder import MANIFEST, SWITCH, digest, is_current, read_manifest, stamp
from tests.conftest import ROOT
from tests.thorough import thoroughly
from tests.waiting import BOUND_S

WITHOUT = obstacle() or ("" if is_built() else "the hot paths are not compiled: make test-environment compiles them")
needs_compiled = pytest.mark.skipif(bool(WITHOUT), reason=WITHOUT)


@thoroughly
@pytest.mark.skipif(bool(obstacle()), reason=obstacle() or "none")
def test_where_there_is_a_compiler_the_hot_paths_are_compiled():
    """The complete run begins with ``make test-environment``, which tells why it could not; other tests then skip."""
    assert is_built()


def run(switch, *arguments):
    command, environment = [sys.executable, *arguments], {**os.environ, SWITCH: switch}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=BOUND_S, check=False
    )


def told(switch, module, *arguments):
    return json.loads(run(switch, "-m", f"tests.compiled.{module}", *arguments).stdout)


@needs_compiled
def test_both_forms_send_the_same_bytes():
    python, compiled = told("0", "story"), told("1", "story")
    assert (python["compiled"], compiled["compiled"]) == (False, True)
    assert python["digest"] == compiled["digest"]


@needs_compiled
def test_both_forms_simulate_the_same_runs_of_each_system_with_whatever_settings(tmp_path):
    python, compiled = told("0", "runs", tmp_path / "python"), told("1", "runs", tmp_path / "compiled")
    assert (python["compiled"], compiled["compiled"]) == (False, True)
    assert python["digest"] == compiled["digest"]


@needs_compiled
def test_what_fails_in_a_compiled_module_is_told_with_its_file():
    failing = "from overlay.channel import Channel, ChannelSettings; Channel(b'', ChannelSettings(), None)"
    said = run("1", "-c", failing).stderr
    assert "overlay/channel/channel.py" in said
    assert "ValueError: an id has 1 to 64 bytes, not 0" in said


@pytest.fixture
def checkout(tmp_path):
    """Two sources, and what would be known of them after compiling."""
    (tmp_path / "hot").mkdir()
    (tmp_path / "hot" / "loop.py").write_text("from hot.types import Row\nfrom json import loads\n")
    (tmp_path / "hot" / "types.py").write_text("Row = tuple[int, int]\n")
    read = dependencies(["hot/loop.py"], tmp_path)
    assert read == {"hot/loop.py", "hot/types.py"}
    return tmp_path, {
        "python": sys.version,
        "sources": {path: [digest(tmp_path / path), stamp(tmp_path / path)] for path in read},
    }


def test_after_a_change_of_a_source_python_runs_it(checkout):
    root, manifest = checkout
    assert is_current(manifest, root)
    (root / "hot" / "types.py").write_text("Row = tuple[int, str]\n")
    assert not is_current(manifest, root)


def test_a_source_that_was_only_copied_is_the_same(checkout):
    root, manifest = checkout
    for path in manifest["sources"]:
        os.utime(root / path, (1, 1))
    assert is_current(manifest, root)


@pytest.mark.parametrize(
    "manifest", [{}, {"python": sys.version}, {"python": sys.version, "sources": {"gone.py": ["", []]}}]
)
def test_a_manifest_that_says_too_little_is_of_no_use(manifest, tmp_path):
    assert not is_current(manifest, tmp_path)


def test_another_python_does_not_use_it(checkout):
    root, manifest = checkout
    assert not is_current({**manifest, "python": "another"}, root)


def test_patterns_take_files_in_and_out(checkout):
    root, _ = checkout
    assert sources(root, "# comment\nhot/*.py\n!hot/types.py\n") == ["hot/loop.py"]
    assert all(Path(ROOT, path).is_file() for path in sources())


def test_what_cannot_be_imported_is_not_used(tmp_path):
    (tmp_path / "loop.so").write_bytes(b"no library")
    (tmp_path / MANIFEST).write_text(json.dumps({"modules": {"loop": "loop.so"}}))
    with pytest.raises(ImportError, match=r"loop\.so"):
        try_out(tmp_path, ROOT)


class Compiler:
    """Makes a file for a source, which is not a library, and lets something happen meanwhile."""

    def __init__(self):
        self.made, self.meanwhile = 0, []

    def __call__(self, paths, temporary):
        for act in [self.meanwhile.pop()] if self.meanwhile else []:
            act()
        self.made += 1
        (temporary / "timers.so").write_text(f"{self.made}")
        return {"overlay.core.timers": temporary / "timers.so"}


@pytest.fixture
def compiling(tmp_path, monkeypatch):
    """A checkout with one hot source and without a compiler: its root, where the result goes, and the compiler."""
    root, result, compiler = tmp_path / "checkout", tmp_path / "environment" / "compiled", Compiler()
    for path in ("overlay/compiled/modules.txt", "overlay/compiled/build.py", "overlay/core/timers.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")
    for name, fake in {"place": lambda root: result, "_compile": compiler, "try_out": lambda *_: None}.items():
        monkeypatch.setattr(builds, name, fake)
    return root, result, compiler


def test_two_who_compile_at_once_do_not_meet(compiling):
    root, result, compiler = compiling
    compiler.meanwhile.append(lambda: build(root))
    build(root)
    assert is_current(read_manifest(result), root)
    assert [(path.name, path.read_text()) for path in result.glob("*.so")] == [("overlay.core.timers.so", "2")]
    assert list(result.parent.iterdir()) == [result], "nothing else is left"


def test_one_who_compiles_during_a_replacement_replaces_it(compiling, monkeypatch):
    root, result, _ = compiling
    rename, others = Path.rename, [lambda: build(root)]

    def renamed(path, target):
        for act in [others.pop()] if others and Path(target) == result else []:
            act()
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", renamed)
    build(root)
    assert [path.read_text() for path in result.glob("*.so")] == ["1"], "the first to compile was the last to end"
    assert list(result.parent.iterdir()) == [result]


def test_a_source_that_changes_while_it_is_compiled_is_compiled_again(compiling):
    root, _, compiler = compiling
    compiler.meanwhile.append(lambda: (root / "overlay/core/timers.py").write_text("changed = True"))
    build(root)
    assert not is_built(root)
    build(root)
    assert is_built(root)
