import subprocess

from infomeans.benchmark import machine


def test_a_commit_says_whether_the_package_was_changed(tmp_path, monkeypatch):
    package = tmp_path / "src" / "package"
    (package / "deep").mkdir(parents=True)
    file = package / "deep" / "module.py"
    file.write_text("a = 1\n")

    def git(*arguments):
        me = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
        subprocess.run(["git", *me, *arguments], cwd=tmp_path, check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    monkeypatch.setattr(machine, "PACKAGE", package)
    clean = machine.commit()
    assert clean
    assert not clean.endswith("+")
    (tmp_path / "notes.txt").write_text("not of the package")
    assert machine.commit() == clean
    file.write_text("a = 2\n")
    assert machine.commit() == clean + "+"


def test_outside_a_checkout_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "PACKAGE", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert machine.commit() is None
