import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from sklearn import datasets
from sklearn.utils import Bunch
from typer.testing import CliRunner

from infomeans.cli import app
from infomeans.training.settings import PRESETS, fast

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = re.compile(r"```python\n(.*?)```", flags=re.DOTALL)
SHOWING = [page for page in PAGES if BLOCKS.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_pictures_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)", text)
    here = [link for link in links if not link.startswith(("http", "mailto:"))]
    assert [link for link in here if not (page.parent / link).exists()] == []


def test_every_public_estimator_shows_an_example():
    import infomeans
    from infomeans.methods import ESTIMATORS

    without = [name for name in ESTIMATORS if ">>> " not in getattr(infomeans, name).__doc__]
    assert without == []


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.name)
def test_the_code_of_a_page_runs_from_top_to_bottom(page, readers_folder):
    rng = np.random.default_rng(0)
    names = {"X": rng.normal(size=(60, 20)), "X_new": rng.normal(size=(5, 20))}
    for number, block in enumerate(BLOCKS.findall(page.read_text(encoding="utf-8")), start=1):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)  # noqa: S102


def test_the_first_code_about_inputs_runs_on_a_flat_folder(readers_folder, monkeypatch):
    Path("flat").mkdir()
    monkeypatch.chdir("flat")
    Path("photos").symlink_to(Path("../more-photos").resolve())
    page = (ROOT / "docs/inputs.md").read_text(encoding="utf-8")
    exec(compile(BLOCKS.findall(page)[0].replace("12", "3"), "inputs.md", "exec"), {})  # noqa: S102


@pytest.fixture(scope="module")
def with_a_run(tmp_path_factory):
    """A folder with photos and a run on them."""
    folder = tmp_path_factory.mktemp("reader")
    rng = np.random.default_rng(0)
    for name in ("photos/cats", "photos/dogs", "more-photos", "new-photos"):
        (folder / name).mkdir(parents=True)
        for number in range(10):
            pixels = rng.integers(0, 256, size=(16, 16), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / name / f"{number}.png")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setitem(PRESETS, "fast", _briefly)
        done = CliRunner().invoke(app, ["cluster", "photos", "--clusters", "2", "--out", "run"])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def readers_folder(with_a_run, tmp_path, monkeypatch):
    """Where a reader would try the code; all goes faster there."""
    shutil.copytree(with_a_run, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(PRESETS, "fast", _briefly)
    digits = datasets.load_digits()
    some = Bunch(**{name: digits[name][:300] for name in ("data", "images", "target")})
    monkeypatch.setattr(datasets, "load_digits", lambda: some)


def _briefly(*arguments):
    return replace(fast(*arguments), pretrain_epochs=2, warmup_epochs=1, epochs=2)
