"""The digest of code: what determines a server's output, in folders and files."""

from overlay.core.hashes import digest_of_code


def test_every_named_folder_and_file_counts(tmp_path):
    own, shared = tmp_path / "own", tmp_path / "shared"
    for folder in (own, shared):
        folder.mkdir()
        (folder / "channel.py").write_text(f"name = {folder.name!r}")
        (folder / "notes.txt").write_text("no code")
    before = digest_of_code(own, shared / "channel.py")
    assert before != digest_of_code(own)
    (shared / "unused.py").write_text("")
    (own / "notes.txt").write_text("still no code")
    assert digest_of_code(own, shared / "channel.py") == before
    (shared / "channel.py").write_text("name = 'changed'")
    assert digest_of_code(own, shared / "channel.py") != before
