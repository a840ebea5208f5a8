import subprocess
import sys

import numpy as np
import pytest

from infomeans.data import workers
from infomeans.data.decoding import TOO_LARGE, decode_all
from infomeans.data.workers import decode_files


@pytest.fixture
def paths(draw):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (60, 9, 8), dtype=np.uint8)
    return [str(draw(f"{i:02}.png", image)) for i, image in enumerate(images)]


@pytest.fixture
def _two_workers(monkeypatch):
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    monkeypatch.setattr(workers, "LOOKS_PER_WORKER", 10)


def flat(pieces):
    return [image for piece in pieces for image in piece]


def started(monkeypatch):
    """The processes that are started from now on."""
    processes = []
    start = workers._start

    def record():
        processes.append(start())
        return processes[-1]

    monkeypatch.setattr(workers, "_start", record)
    return processes


def test_few_images_start_no_process(paths, monkeypatch):
    processes = started(monkeypatch)
    assert flat(decode_files(paths, None)) == decode_all(paths, None)
    assert processes == []


@pytest.mark.usefixtures("_two_workers")
@pytest.mark.parametrize("size", [None, (5, 6)])
def test_processes_give_the_same_in_the_same_order(paths, monkeypatch, size):
    monkeypatch.setattr(workers, "RESIZES_PER_WORKER", 10)
    processes = started(monkeypatch)
    assert flat(decode_files(paths, size)) == decode_all(paths, size)
    assert [process.returncode for process in processes] == [0, 0]


@pytest.mark.usefixtures("_two_workers")
@pytest.mark.parametrize("fit", ["pad", "crop"])
def test_processes_fit_images_alike(paths, monkeypatch, fit):
    monkeypatch.setattr(workers, "RESIZES_PER_WORKER", 10)
    processes = started(monkeypatch)
    assert flat(decode_files(paths, (12, 6), fit)) == decode_all(paths, (12, 6), fit)
    assert [process.returncode for process in processes] == [0, 0]


@pytest.mark.usefixtures("_two_workers")
def test_processes_read_heic(draw_heic, monkeypatch):
    photo = np.zeros((40, 60, 3), np.uint8)
    photo[:, 30:] = 200
    paths = [str(draw_heic(f"{i}.heic", photo)) for i in range(20)]
    processes = started(monkeypatch)
    decoded = flat(decode_files(paths, None))
    assert [process.returncode for process in processes] == [0, 0]
    assert [image.problem for image in decoded] == [""] * 20
    assert decoded == decode_all(paths, None)


@pytest.mark.usefixtures("_two_workers")
def test_a_worker_that_dies_is_replaced_by_this_process(paths, monkeypatch):
    processes = started(monkeypatch)
    pieces = decode_files(paths, None)
    first = next(pieces)
    processes[1].kill()
    assert first + flat(pieces) == decode_all(paths, None)


@pytest.mark.usefixtures("_two_workers")
def test_a_worker_that_cannot_start_is_replaced_by_this_process(paths, monkeypatch):
    monkeypatch.setattr(workers.decoding, "__file__", "/no/such/program.py")
    assert flat(decode_files(paths, None)) == decode_all(paths, None)


@pytest.mark.usefixtures("_two_workers")
def test_a_worker_whose_output_is_spoiled_mixes_nothing_up(paths, tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("print('I print at every start')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert flat(decode_files(paths, None)) == decode_all(paths, None)


@pytest.mark.usefixtures("_two_workers")
def test_whoever_stops_early_leaves_no_process_behind(paths, monkeypatch):
    processes = started(monkeypatch)
    pieces = decode_files(paths, None)
    next(pieces)
    pieces.close()
    assert all(process.poll() is not None for process in processes)


@pytest.mark.usefixtures("_two_workers")
def test_workers_keep_to_the_callers_limit_of_pixels(paths, monkeypatch):
    monkeypatch.setattr(workers.Image, "MAX_IMAGE_PIXELS", 71)
    assert {image.problem for image in flat(decode_files(paths, None))} == {TOO_LARGE}


def test_a_script_without_a_guard_is_not_run_again(paths, tmp_path):
    """Processes of multiprocessing would."""
    script = tmp_path / "script.py"
    script.write_text(
        "print('once')\n"
        "from infomeans.data import open, workers\n"
        "workers._cores, workers.LOOKS_PER_WORKER = lambda: 2, 10\n"
        f"print(open({str(tmp_path)!r}).X.shape)\n"
    )
    ways = [[script], ["-c", script.read_text()]]
    for way in ways:
        run = subprocess.run([sys.executable, *way], capture_output=True, text=True)
        assert (run.stdout, run.stderr) == ("once\n(60, 9, 8)\n", "")


def test_a_worker_needs_neither_numpy_nor_the_package():
    code = "import sys, runpy; sys.stdin.close()\ntry: runpy.run_path({!r})\nfinally: print({})"
    loaded = "{'numpy', 'infomeans'} & set(sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code.format(workers.decoding.__file__, loaded)],
        capture_output=True,
        text=True,
    )
    assert run.stdout == "set()\n"
