import io
import json
import re

import pytest
from rich.console import Console
from tests.test_progress import Terminal

from infomeans.cli import reporting
from infomeans.files import sealed
from infomeans.runs import Run

QUICK = ("--pretrain-epochs", 3, "--set", "warmup_epochs=2", "--epochs", 2)


def test_redirected_output_has_lines_for_every_phase_and_no_codes(infomeans, photos, tmp_path):
    said = infomeans("cluster", photos, "-k", 3, *QUICK, "--out", tmp_path / "run").stderr
    assert "\x1b" not in said
    lines = "\n".join(line for line in said.splitlines() if not line.startswith("About"))
    epochs = r"/%d epochs, loss \d+\.\d{4}, I\(X;K\) \d\.\d{3}, [^,]+"
    assert re.search(
        r"pretrain: up to 3 epochs\n"
        r"pretrain: 3/3 epochs, loss \d+\.\d{4}, [^,]+; [^,]+ of training left at most\n"
        r"start: looking for the initial clusters\n"
        r"start: done, [^,]+; [^,]+ of training left at most\n"
        r"warm-up: up to 2 epochs\n"
        rf"warm-up: \d{epochs % 2}; [^,]+ of training left at most\n"
        r"alternate: up to 2 epochs\n"
        rf"alternate: \d{epochs % 2}(\n|$)",
        lines,
    )


def test_methods_without_epochs_say_what_they_do(infomeans, photos, tmp_path):
    said = infomeans("cluster", photos, "-k", 3, "--method", "graph", "--out", tmp_path / "run")
    assert re.search(r"clustering\nclustering: done in \S+ s\n", said.stderr)


@pytest.mark.parametrize("patience", [0.0, 3.0])
def test_a_file_gets_lines_only_of_what_takes_long(patience, monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr(reporting, "errors", Console(file=file, width=20))
    monkeypatch.setattr(reporting, "PATIENCE", patience)
    with reporting.progress("reading") as move:
        for done in (500, 1000, 1500):
            move(done, 1500)
    expected = "reading: 1,000/1,500, <1 s left\nreading: done in <1 s\n"
    assert file.getvalue() == ("" if patience else expected)


def test_a_terminal_gets_a_bar_with_the_time_left(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(reporting, "errors", Console(file=screen, width=80))
    with reporting.progress("reading") as move:
        move(500, 1500)
        move(1000, 1500)
    assert "1,000/1,500 <1 s, <1 s left" in screen.getvalue()


def test_show_and_report_speak_of_time_alike(infomeans, photos, tmp_path):
    out = tmp_path / "run"
    infomeans("cluster", photos, "-k", 3, "--method", "kmeans", "--out", out)
    metrics = json.loads((out / "metrics.json").read_text())
    (out / "metrics.json").write_text(json.dumps(sealed(metrics | {"seconds": 3900.0})))
    assert re.search(r"time +1 h 5 min", infomeans("show", out).stdout)
    infomeans("report", out)
    assert "1 h 5 min" in Run(out).report.read_text()
