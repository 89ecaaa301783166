"""Which tests run in one process, in turn: the list names what is there."""

from tests.turns import ROOT, TURNS, turn


def test_every_file_and_folder_that_is_named_is_there():
    named = [name for members in TURNS.values() for name in members]
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert len(named) == len(set(named))


def test_a_file_that_is_named_is_not_of_its_folders_turn_and_any_other_is_one_of_its_own():
    assert turn(ROOT / "browser" / "test_pages.py")[1] == "pages"
    assert turn(ROOT / "browser" / "test_every_page.py")[1] == "every page"
    assert turn(ROOT / "pages" / "test_home.py") == (len(TURNS), "pages/test_home.py")
