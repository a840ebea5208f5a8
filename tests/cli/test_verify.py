"""Whether a run is as it was written."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from filelock import FileLock
from typer.testing import CliRunner

from infomeans import KMeansBaseline
from infomeans.cli import app
from infomeans.training.checkpoint import Checkpoint

CLUSTER = ["cluster", "x.csv", "-k", "2", "--method", "kmeans", "--out", "run", "--parquet"]


def call(*arguments):
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text(
        "a,b\n" + "".join(f"{i % 2 * 9 + i / 99},{i}\n" for i in range(40))
    )
    assert call(*CLUSTER).exit_code == 0
    return tmp_path / "run"


def test_a_run_is_as_it_was_written(run):
    assert not (run / ".lock").exists()
    result = call("verify", run)
    assert result.exit_code == 0, result.output
    assert "everything is as it was written" in result.output
    (run.parent / "names.json").write_text('{"names": {"0": "left"}}')
    assert call("relabel", run, "names.json").exit_code == 0
    assert call("verify", run).exit_code == 0


@pytest.mark.parametrize(
    "file",
    ["labels.csv", "labels.parquet", "posteriors.npy", "embedding.npy", "tree.npz"],
)
def test_a_flipped_bit_is_found_and_named(run, file):
    content = bytearray((run / file).read_bytes())
    content[len(content) - 3] ^= 1
    (run / file).write_bytes(bytes(content))
    result = call("verify", run)
    assert result.exit_code == 2
    assert f"{file}: changed after it was written" in result.output
    assert "undamaged: " in result.output
    (run / file).unlink()
    assert call("verify", run).exit_code == 2


@pytest.mark.parametrize("file", ["config.json", "metrics.json"])
@pytest.mark.parametrize("command", ["show", "verify"])
def test_changed_facts_are_noticed_by_every_command(run, file, command):
    text = (run / file).read_text()
    (run / file).write_text(text.replace("4", "5", 1))
    result = call(command, run)
    assert result.exit_code == 2
    assert f"{file} is damaged or was edited" in result.output


def test_damaged_weights_are_found(run):
    (weights,) = (run / "model").glob("*.safetensors")
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    result = call("verify", run)
    assert result.exit_code == 2
    assert "model: " in result.output
    assert "damaged" in result.output


def test_a_damaged_checkpoint_is_found(run):
    Checkpoint(run / "checkpoint.safetensors", {}).save({"a": torch.ones(3)}, {"b": torch.ones(2)})
    assert call("verify", run).exit_code == 0
    (run / "checkpoint-start.safetensors").write_bytes(b"half")
    result = call("verify", run)
    assert result.exit_code == 2
    assert "checkpoint.safetensors: " in result.output
    assert "only a resume needs it" in result.output


def test_a_run_of_an_earlier_version_is_read(run):
    (run / "hashes.json").unlink()
    assert "hashes.json: missing" in call("verify", run).output
    for name in ("config.json", "metrics.json"):
        content = json.loads((run / name).read_text())
        del content["sha256"]
        (run / name).write_text(json.dumps({**content, "format": 1}))
    assert call("verify", run).exit_code == 0
    (run / "posteriors.npy").write_bytes(b"nonsense")
    result = call("verify", run)
    assert result.exit_code == 2
    assert "posteriors.npy" in result.output


def test_names_do_not_make_damaged_files_whole(run):
    np.save(run / "embedding.npy", np.load(run / "embedding.npy") + 1)
    (run.parent / "names.json").write_text('{"names": {"0": "left"}}')
    assert call("relabel", run, "names.json").exit_code == 0
    assert "embedding.npy: changed after it was written" in call("verify", run).output


def test_a_damaged_run_can_be_replaced(run):
    text = (run / "config.json").read_text()
    (run / "config.json").write_text(text.replace("4", "5", 1))
    assert call(*CLUSTER, "--overwrite").exit_code == 0
    assert call("verify", run).exit_code == 0
    assert [path.name for path in run.parent.glob(".*")] == []


def test_fewer_posteriors_than_samples_are_named(run):
    np.save(run / "posteriors.npy", np.load(run / "posteriors.npy")[:-3])
    for command in ("show", "verify"):
        result = call(command, run)
        assert result.exit_code == 2
        assert "posteriors.npy" in result.output


def test_a_model_is_checked_too(run, blobs):
    KMeansBaseline(4, random_state=0).fit(blobs[0]).save("model")
    assert "the model is undamaged" in call("verify", "model").output
    text = (run.parent / "model" / "model.json").read_text()
    (run.parent / "model" / "model.json").write_text(text.replace('"shape"', '"shapf"'))
    assert call("verify", "model").exit_code == 2
    assert call("verify", "nowhere").exit_code == 2


def test_two_processes_do_not_write_one_run(run):
    with FileLock(run / ".lock"):
        for arguments in ([*CLUSTER, "--overwrite"], ["relabel", run, "names.json"]):
            (run.parent / "names.json").write_text('{"names": {"0": "left"}}')
            result = call(*arguments)
            assert result.exit_code == 2
            assert "another process is writing to" in result.output
    assert call("verify", run).exit_code == 0


def test_a_dead_process_holds_no_lock(run):
    lock = f"from filelock import FileLock; FileLock({str(run / '.lock')!r}).acquire()"
    code = f"{lock}; import os; os.abort()"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode
    assert (run / ".lock").exists()
    assert call(*CLUSTER, "--overwrite").exit_code == 0


def test_what_killed_writers_left_is_removed(run):
    for name in (".labels.csv.0123abcd", "model/.model.json.89abcdef"):
        (run / name).write_text("half")
    (run.parent / ".run.0123abcd.deleted").mkdir()
    (run / ".mine").write_text("kept")
    (run.parent / "names.json").write_text('{"names": {"0": "left"}}')
    assert call("relabel", run, "names.json").exit_code == 0
    assert [path.name for path in run.rglob(".*")] == [".mine"]
    assert not (run.parent / ".run.0123abcd.deleted").exists()


def test_a_resume_with_other_threads_is_said_or_refused(run):
    assert call(*CLUSTER, "--overwrite", "--threads", "1").exit_code == 0
    (run / "metrics.json").unlink()
    (run / "history.jsonl").write_text("{damaged")
    resume = ("cluster", "--resume", "--out", run, "--threads", "2")
    result = call(*resume, "--strict")
    assert result.exit_code == 2
    assert "was started with 1 threads, not 2" in result.output
    result = call(*resume)
    assert result.exit_code == 0, result.output
    assert "Warning" in result.output
    assert json.loads((run / "metrics.json").read_text())["threads"] == 2
