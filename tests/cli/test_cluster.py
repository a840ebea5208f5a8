import csv
import json
import os
import shutil
import signal
import time
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from tests import forking

from infomeans import data, load
from infomeans.errors import InputError
from infomeans.files import sealed
from infomeans.runs import Run
from infomeans.training.course import Course
from infomeans.workflows.cluster import cluster
from infomeans.workflows.request import Request

QUICK = ["--pretrain-epochs", "2", "--epochs", "2", "--set", "warmup_epochs=1"]
FROM_A_GRAPH = [*QUICK, "--set", "init=graph"]


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def labels(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_holds_everything(run, photos):
    assert sorted(path.name for path in run.iterdir()) == [
        "checkpoint-start.safetensors", "checkpoint.safetensors", "config.json", "embedding.npy",
        "hashes.json", "history.jsonl", "labels.csv", "metrics.json", "model", "posteriors.npy",
        "report.html", "tree.npz",
    ]  # fmt: skip
    rows = labels(run / "labels.csv")
    assert [row["id"] for row in rows] == sorted(
        path.relative_to(photos).as_posix() for path in photos.rglob("*.png")
    )
    config = json.loads((run / "config.json").read_text())
    assert config["seed"] == 0
    assert config["threads"] == torch.get_num_threads()
    assert set(config["versions"]) >= {"infomeans", "torch", "numpy", "scikit-learn", "python"}
    assert config["arguments"]["source"] == str(photos)
    assert len(config["data"]["fingerprint"]) == 64
    metrics = json.loads((run / "metrics.json").read_text())
    assert sum(metrics["sizes"]) == 120
    assert 0 <= metrics["nmi"] <= 1
    assert 0 <= metrics["start"]["acc"] <= 1
    assert len((run / "history.jsonl").read_text().splitlines()) == metrics["epochs"]
    model = load(run)
    assert np.load(run / "embedding.npy").shape == (120, model.transform(np.zeros((1, 9, 8))).size)


def test_labels_do_not_reach_the_fit(infomeans, run, photos, tmp_path):
    infomeans("cluster", photos, "-k", 3, "--out", tmp_path / "run", *QUICK)
    assert (tmp_path / "run" / "labels.csv").read_bytes() == (run / "labels.csv").read_bytes()
    assert "acc" not in json.loads((tmp_path / "run" / "metrics.json").read_text())


def test_a_folder_called_folder_changes_nothing(infomeans, photos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    options = ["-k", 3, "--method", "kmeans", "--labels", "folder", "--out", tmp_path / "run"]
    infomeans("cluster", photos, *options)
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["acc"] > 0.9


def test_a_column_of_labels_is_no_feature(infomeans, table, tmp_path):
    out = tmp_path / "run"
    shown = infomeans(
        *("cluster", table, "-k", 4, "--labels", "kind", "--id-column", "name", "--out", out),
        *FROM_A_GRAPH,
    ).output
    assert "colour" in shown
    assert labels(out / "labels.csv")[0]["id"] == "sample 0"
    recipe = json.loads((out / "model" / "model.json").read_text())["input"]
    assert recipe["columns"] == list("abcdef")


@pytest.mark.parametrize("method", ["sr-kmeans", "depict", "mi-d", "dec", "dcn", "kmeans", "graph"])
def test_every_method_goes_all_the_way(infomeans, method, table, tmp_path):
    out = tmp_path / "run"
    quick = [] if method in ("kmeans", "graph") else FROM_A_GRAPH
    options = ["--method", method, "--columns", "a,b", "--parquet", "--out", out]
    infomeans("cluster", table, "-k", 4, *options, *quick)
    assert (out / "labels.parquet").exists()
    infomeans("predict", out, table, "--out", tmp_path / "new.csv")
    new, old = labels(tmp_path / "new.csv"), labels(out / "labels.csv")
    assert [row["cluster"] for row in new] == [row["cluster"] for row in old]
    assert method in infomeans("show", out).output


def test_the_default_folder_is_a_new_one(infomeans, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("table-kmeans", "table-kmeans-2"):
        infomeans("cluster", table, "-k", 2, "--method", "kmeans")
        assert (tmp_path / name / "labels.csv").exists()


class Broken(Course):
    """Is interrupted after so many epochs."""

    left = 3

    def _save(self, phase, following):
        super()._save(phase, following)
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_a_run_that_was_stopped_is_resumed(infomeans, run, photos, tmp_path, monkeypatch):
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("infomeans.training.trainer.Course", Broken)
        result = infomeans("cluster", photos, "-k", 3, "--out", out, *QUICK, code=130)
    assert f"--resume --out {out}" in result.output
    assert len((out / "history.jsonl").read_text().splitlines()) == 3
    assert "is not complete; resume with" in infomeans("show", out).output
    infomeans("cluster", "--resume", "--out", out)
    assert (out / "labels.csv").read_bytes() == (run / "labels.csv").read_bytes()
    assert "already complete" in infomeans("cluster", "--resume", "--out", out).output


def test_resuming_holds_on_to_what_was_begun(infomeans, photos, table, tmp_path, monkeypatch):
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("infomeans.training.trainer.Course", Broken)
        infomeans("cluster", photos, "-k", 3, "--out", out, *FROM_A_GRAPH, code=130)
    before = contents(out)
    for change in (
        ["-k", 4],
        ["--seed", 1],
        ["--epochs", 0],
        ["--method", "dec"],
        ["--embeddings"],
        [table],
    ):
        result = infomeans("cluster", *change, "--resume", "--out", out, code=2)
        assert "was started with" in result.output
    assert contents(out) == before


def test_a_run_is_resumed_from_anywhere(infomeans, photos, tmp_path, monkeypatch):
    out = tmp_path / "run"
    (tmp_path / "truth.txt").write_text("x\n" * 120)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("infomeans.training.trainer.Course", Broken)
        options = ["-k", 3, "--labels", "truth.txt", "--out", out]
        infomeans("cluster", photos, *options, *FROM_A_GRAPH, code=130)
    monkeypatch.chdir(photos)
    monkeypatch.setenv("INFOMEANS_DATA", "elsewhere")
    infomeans("cluster", "--resume", "--out", out, "--seed", 0)
    assert json.loads((out / "metrics.json").read_text())["acc"] < 1


def test_a_resumed_run_that_fails_keeps_its_state(infomeans, photos, run, tmp_path, monkeypatch):
    out = tmp_path / "run"
    shutil.copytree(run, out)
    with monkeypatch.context() as patch:
        patch.setattr("infomeans.training.trainer.Course", Broken)
        options = ["-k", 3, "--seed", 1, "--out", out, "--overwrite"]
        infomeans("cluster", photos, *options, *FROM_A_GRAPH, code=130)

    def full(*_, **__):
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("infomeans.workflows.cluster.write_model", full)
        infomeans("cluster", "--resume", "--out", out, code=1)
    assert not Run(out).complete
    infomeans("cluster", "--resume", "--out", out)
    assert Run(out).complete
    assert Run(out).config["seed"] == 1


def test_a_full_disk_costs_neither_the_new_run_nor_the_old(
    infomeans, photos, run, tmp_path, monkeypatch
):
    def full(*_, **__):
        raise OSError("No space left on device")

    out = tmp_path / "run"
    shutil.copytree(run, out)
    with monkeypatch.context() as patch:
        patch.setattr("infomeans.runs.Run.write_results", full)
        options = ["-k", 3, "--seed", 1, "--out", out, "--overwrite"]
        said = infomeans("cluster", photos, *options, *FROM_A_GRAPH, code=1).output
    assert f"--resume --out {out}" in said.replace("\n", " ")
    assert Run(tmp_path / ".run.replaced").complete
    for command, code in (["show", out], 0), (["predict", out, photos], 2), (["report", out], 2):
        shown = infomeans(*command, code=code).output.replace("\n", " ")
        assert f"is kept in {tmp_path / '.run.replaced'}" in shown
    infomeans("cluster", "--resume", "--out", out)
    assert Run(out).config["seed"] == 1
    assert not (tmp_path / ".run.replaced").exists()


def test_what_a_user_should_look_at_twice_is_said(infomeans, run, tmp_path):
    path, out = tmp_path / "table.csv", tmp_path / "run"
    path.write_text("id,a\n" + "".join(f"{i},{i % 2}.5\n" for i in range(20)))
    said = infomeans("cluster", path, "-k", 2, "--method", "kmeans", "--out", out).output
    assert "'id' is used as a feature" in said
    assert "features    id, a" in said
    metrics = shutil.copytree(run, tmp_path / "copy") / "metrics.json"
    for mi, stability, unsure in ((0.5, 0.6, True), (0.5, 0.9, False), (0.6, 0.6, False)):
        changed = {"mi": mi, "stability": stability}
        metrics.write_text(json.dumps(sealed(json.loads(metrics.read_text()) | changed)))
        assert ("of at most 1.10 nats" in infomeans("show", metrics.parent).output) == unsure


def test_a_job_is_resumed_as_it_was_begun(table, tmp_path, monkeypatch):
    samples, out = data.open(str(table)), tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("infomeans.workflows.cluster.finish", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            cluster(Request(str(table), 3, "kmeans"), samples, out)
    with pytest.raises(InputError, match="started with n_clusters 3, not 2"):
        cluster(Request(str(table), 2, "kmeans"), samples, out, resume=True)
    run, _ = cluster(Request(str(table), 3, "kmeans"), samples, out, resume=True)
    assert run.complete


def test_embeddings_get_no_autoencoder(infomeans, blobs, photos, tmp_path):
    np.save(tmp_path / "clip.npy", blobs[0])
    out = tmp_path / "run"
    options = ["-k", 4, "--out", out, "--embeddings"]
    infomeans("cluster", tmp_path / "clip.npy", *options)
    assert {record["phase"] for record in Run(out).history} == {"warm-up", "alternate"}
    assert load(out).network == "residual"
    shifted = blobs[0] - blobs[0].mean(axis=0)
    moved = Run(out).embedding - shifted / np.sqrt(shifted.var(axis=0).mean())
    assert 0.01 < np.abs(moved).max() < 3
    stretched = blobs[0] * np.geomspace(1, 0.1, 6)
    np.save(tmp_path / "stretched.npy", stretched)
    for method in ("kmeans", "graph"):
        options[3] = tmp_path / method
        infomeans("cluster", tmp_path / "stretched.npy", *options, "--method", method)
        spread = Run(options[3]).embedding.std(axis=0)
        expected = np.std(stretched, axis=0) / stretched[:, 0].std()
        np.testing.assert_allclose(spread / spread[0], expected, rtol=1e-5)
    assert "auto (mi-adm) on embeddings, k = 4" in infomeans("show", out).output
    options[3] = tmp_path / "other"
    useless = infomeans("cluster", tmp_path / "clip.npy", *options, "--pretrain-epochs", 5, code=2)
    assert "no auto-encoder to pretrain" in useless.output
    assert "needs vectors" in infomeans("cluster", photos, *options, code=2).output
    assert not options[3].exists()


def test_changed_data_are_not_resumed(infomeans, table, tmp_path, monkeypatch):
    copy, out = tmp_path / "table.csv", tmp_path / "run"
    copy.write_bytes(table.read_bytes())
    with monkeypatch.context() as patch:
        patch.setattr("infomeans.training.trainer.Course", Broken)
        infomeans("cluster", copy, "-k", 3, "--out", out, *FROM_A_GRAPH, code=130)
    copy.write_text("\n".join(copy.read_text().splitlines()[:-1]))
    assert "have changed" in infomeans("cluster", "--resume", "--out", out, code=2).output


@forking.forks
def test_a_killed_process_is_resumed(infomeans, photos, tmp_path):
    """Killed, then interrupted, then let run to its end: as if nothing had happened."""
    options = ["-k", "3", "--pretrain-epochs", "30", "--epochs", "2", "--set", "init=graph"]
    options += ["--set", "warmup_epochs=1"]
    infomeans("cluster", photos, *options, "--out", tmp_path / "whole")
    out, said = tmp_path / "run", tmp_path / "said"
    history = out / "history.jsonl"
    written = 3
    for arguments, signal_ in (([photos, *options], signal.SIGKILL), (["--resume"], signal.SIGINT)):
        line = ["cluster", *arguments, "--out", out]
        process = forking.start(forking.command, *line, output=said)
        patience = time.monotonic() + 60
        while not (history.exists() and len(history.read_text().splitlines()) > written):
            assert time.monotonic() < patience
            time.sleep(0.005)
        os.kill(process.pid, signal_)
        code = forking.ended(process)
        written = len(history.read_text().splitlines())
        assert not (out / "metrics.json").exists()
    assert code == 130
    assert f"--resume --out {out}" in said.read_text().replace("\n", " ")
    infomeans("cluster", "--resume", "--out", out)
    assert (out / "labels.csv").read_bytes() == (tmp_path / "whole" / "labels.csv").read_bytes()


def test_an_existing_run_is_not_overwritten_unasked(infomeans, run, photos, tmp_path):
    before = contents(run)
    result = infomeans("cluster", photos, "-k", 3, "--out", run, *QUICK, code=2)
    assert "--overwrite" in result.output
    assert contents(run) == before
    out = tmp_path / "run"
    infomeans("cluster", photos, "-k", 3, "--method", "kmeans", "--out", out)
    infomeans("cluster", photos, "-k", 2, "--method", "kmeans", "--out", out, "--overwrite")
    assert load(out).n_clusters == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "-k", 3], "nowhere"),
        (["PHOTOS", "-k", "many"], "nor auto"),
        (["PHOTOS", "--k-min", 5, "--k-max", 3], "k_min=5"),
        (["PHOTOS", "-k", 121], "n_clusters=121"),
        (["PHOTOS", "-k", 3, "--method", "magic"], "mi-adm"),
        (["PHOTOS", "-k", 3, "--set", "lambda=1"], "lambda"),
        (["PHOTOS", "-k", 3, "--set", "lam"], "NAME=VALUE"),
        (["PHOTOS", "-k", 3, "--epochs", 1, "--set", "epochs=2"], "twice"),
        (["", "-k", 3], "empty"),
        (["PHOTOS", "-k", 3, "--set", "lam=-1"], "lam"),
        (["PHOTOS", "-k", 3, "--set", "random_state=1"], "random_state"),
        (["PHOTOS", "-k", 3, "--set", "network=[1]"], "network"),
        (["no[abc]file[/bold]", "-k", 3], "no[abc]file[/bold]"),
        (["TABLE", "-k", 3, "--augment"], "augment"),
        (["PHOTOS", "-k", 3, "--method", "kmeans", "--epochs", 3], "epochs"),
        (["PHOTOS", "-k", 3, "--image-size", 4], "8"),
        (["PHOTOS", "-k", 3, "--labels", "nothing.csv"], "nothing.csv"),
        (["TABLE", "-k", 3, "--columns", "a,colour"], "colour"),
        (["TABLE", "-k", 3, "--resume"], "--out"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    infomeans, arguments, message, photos, table, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    given = {"PHOTOS": photos, "TABLE": table}
    result = infomeans("cluster", *(given.get(a, a) for a in arguments), code=2)
    error = [line for line in result.stderr.splitlines() if line.startswith("Error:")]
    assert len(error) == 1
    assert message in error[0]
    assert "Traceback" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_strangers_folder_is_never_replaced(infomeans, table, tmp_path):
    (tmp_path / "config.json").write_text('{"name": "my project"}')
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights.bin").write_text("mine")
    before = contents(tmp_path)
    options = ["-k", 2, "--method", "kmeans", "--out", tmp_path, "--overwrite"]
    assert "not a run folder" in infomeans("cluster", table, *options, code=2).stderr
    assert contents(tmp_path) == before


def test_a_pattern_names_its_run_by_its_folder(infomeans, photos, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    infomeans("cluster", f"{photos}/*/*.png", "-k", 2, "--method", "kmeans")
    assert [path.name for path in tmp_path.iterdir()] == [f"{photos.name}-kmeans"]


def test_debug_shows_the_traceback(infomeans, tmp_path):
    result = infomeans("cluster", tmp_path / "nowhere", "-k", 3, "--debug", code=1)
    assert result.exc_info[0] is InputError


def with_small_files(*arguments):
    """Call the command where no file may grow beyond 1,000 bytes: as on a full disk."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    forking.command(*arguments)


@forking.forks
@pytest.mark.parametrize("command", ["predict", "cluster"])
def test_a_full_disk_leaves_what_was_there(command, infomeans, table, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    out = folder / "run"
    infomeans("cluster", table, "-k", 4, "--method", "kmeans", "--out", out)
    before = contents(folder)
    arguments = {
        "predict": ["predict", out, table, "--out", folder / "labels.csv"],
        "cluster": ["cluster", table, "-k", 3, "--method", "graph", "--out", out, "--overwrite"],
    }
    output = tmp_path / "said"
    assert forking.ended(forking.start(with_small_files, *arguments[command], output=output)) == 1
    said = output.read_text()
    assert "Error: " in said
    assert str(folder) in said
    assert "Traceback" not in said
    assert contents(folder) == before


def test_no_permission_is_exit_code_1(infomeans, photos, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", "run")

    monkeypatch.setattr(Path, "mkdir", refuse)
    result = infomeans("cluster", photos, "-k", 2, "--out", tmp_path / "run", *QUICK, code=1)
    assert "Permission denied" in result.stderr
