import os
import subprocess
import sys
from pathlib import Path

from infomeans.benchmark import machine


def test_a_commit_says_whether_the_package_was_changed(tmp_path, monkeypatch):
    package = tmp_path / "src" / "package"
    (package / "deep").mkdir(parents=True)
    file = package / "deep" / "module.py"
    file.write_text("a = 1\n")

    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)

    def git(*arguments):
        me = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
        subprocess.run(["git", *me, *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    clean = machine.commit_of(package)
    assert clean
    assert not clean.endswith("+")
    (tmp_path / "notes.txt").write_text("not of the package")
    assert machine.commit_of(package) == clean
    file.write_text("a = 2\n")
    assert machine.commit_of(package) == clean + "+"


def test_outside_a_checkout_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert machine.commit_of(tmp_path) is None


def test_a_system_that_knows_neither_load_nor_peak_gives_none(monkeypatch):
    monkeypatch.delattr(os, "getloadavg", raising=False)
    monkeypatch.setattr(Path, "exists", lambda _: False)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert machine.load1() is None
    assert machine.peak_mb() is None
