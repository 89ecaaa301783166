"""What ``.ci/run`` does about failed tests."""

from __future__ import annotations

import json

from tests import again


def test_failed_tests_are_selected_without_their_groups(tmp_path):
    record = tmp_path / "lastfailed"
    record.write_text(
        json.dumps(
            {
                "tests/stack/test_deaths.py::test_x[a@b]@house": True,
                "tests/test_links.py::test_y@test_links.py": True,
                "tests/test_links.py::test_z[c@d]": True,
            }
        )
    )
    assert again.failed(record) == [
        "tests/stack/test_deaths.py::test_x[a@b]",
        "tests/test_links.py::test_y",
        "tests/test_links.py::test_z[c@d]",
    ]


def test_without_a_record_or_with_many_failed_tests_the_run_stays_failed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(again, "RECORD", tmp_path / "lastfailed")
    assert again.failed(tmp_path / "lastfailed") == []
    monkeypatch.setattr(again, "failed", list)
    assert again.main() == 1
    monkeypatch.setattr(again, "failed", lambda: [f"tests/test_links.py::test_{number}" for number in range(4)])
    assert again.main() == 1
    assert "4 failed tests are on record" in capsys.readouterr().out
