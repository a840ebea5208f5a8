import os
import re
import subprocess
import sys
from contextlib import ExitStack
from threading import Barrier, Thread

import pytest
import torch
from threadpoolctl import threadpool_info

from infomeans import threads
from infomeans.networks import build_network
from infomeans.training.step import step_work

V1 = "4:memory:/job\n3:cpu,cpuacct:{0}\n0::/\n"


# The CPUs that are there


def groups(root, membership, **files):
    """A made-up tree of control groups."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(membership)
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("membership", "files", "expected"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 1.5),
        ("0::/\n", {"cpu.max": "max 100000\n"}, None),
        ("0::/a/b\n", {"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "200000 100000\n"}, 2),
        ("0::/a/b\n", {"a/b/cpu.max": "50000 100000\n", "a/cpu.max": "200000 100000\n"}, 0.5),
        ("0::/a/b\n", {"a/b/cpu.max": "max 100000\n", "a/cpu.max": "300000 100000\n"}, 3),
        ("0::/a\n", {"a/c/cpu.max": "100000 100000\n", "b/cpu.max": "100000 100000\n"}, None),
        # A container without a namespace of its own: the path is the host's, the mount is its own.
        ("0::/docker/1f\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/../..\n", {"cpu.max": "200000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "nonsense\n"}, None),
        ("0::/\n", {"cpu.max": "100000 0\n"}, None),
    ],
)
def test_the_smallest_quota_on_the_way_up_counts(tmp_path, membership, files, expected):
    assert threads.cpu_quota(groups(tmp_path, membership, **files)) == expected


@pytest.mark.parametrize("mount", ["cpu,cpuacct", "cpu"])
@pytest.mark.parametrize("group", ["/", "/pod/job", "/docker/1f"])
@pytest.mark.parametrize(("quota", "expected"), [("250000", 2.5), ("-1", None)])
def test_quotas_of_the_first_version_are_read_too(tmp_path, mount, group, quota, expected):
    folder = f"{mount}{group}/" if group == "/pod/job" else f"{mount}/"
    files = {f"{folder}cpu.cfs_quota_us": f"{quota}\n", f"{folder}cpu.cfs_period_us": "100000\n"}
    assert threads.cpu_quota(groups(tmp_path, V1.format(group), **files)) == expected


def test_systems_without_control_groups_have_no_quota(tmp_path):
    assert threads.cpu_quota(tmp_path) is None


@pytest.mark.parametrize(("quota", "expected"), [(None, 8), (2.7, 2), (0.1, 1), (64.0, 8)])
def test_a_quota_takes_cpus_away_but_never_all(monkeypatch, quota, expected):
    monkeypatch.setattr(threads, "_cpus", lambda: 8)
    monkeypatch.setattr(threads, "cpu_quota", lambda: quota)
    assert threads.available_cpus() == expected


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
def test_cpus_that_the_process_is_kept_from_do_not_count():
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        assert threads.available_cpus() == 1
    finally:
        os.sched_setaffinity(0, before)


# What threads do while they wait


WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY")
STANDS_FOR_TORCH = """
import os
policy = os.environ.get("OMP_WAIT_POLICY")
if "BROKEN" in os.environ:
    raise ImportError("broken")
def get_num_threads():
    return 1
"""


@pytest.fixture
def python(tmp_path):
    """Run code in a fresh Python, where torch only notes how its threads are to wait."""
    (tmp_path / "torch.py").write_text(STANDS_FOR_TORCH)

    def run(code, *, real_torch=False, **variables):
        kept = {name: value for name, value in os.environ.items() if name not in WAITING}
        before = [] if real_torch else [str(tmp_path)]
        path = os.pathsep.join([*before, *filter(None, sys.path)])
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**kept, "PYTHONPATH": path, **variables},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


def test_threads_sleep_and_the_environment_is_left_alone(python):
    python(
        "import os, sys\n"
        "variables, finders = dict(os.environ), list(sys.meta_path)\n"
        "import infomeans\n"
        "assert dict(os.environ) == variables\n"
        "import importlib.util\n"
        "assert importlib.util.find_spec('torch')  # that torch is there does not load it\n"
        "assert 'torch' not in sys.modules\n"
        "import torch\n"
        "assert torch.policy == 'PASSIVE'\n"
        "assert torch.__spec__.loader.get_source('torch')\n"
        "assert dict(os.environ) == variables\n"
        "assert sys.meta_path == finders\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="only GNU's OpenMP says what it has read")
def test_openmp_reads_it(python):
    done = python("import infomeans.functional", real_torch=True, OMP_DISPLAY_ENV="VERBOSE")
    assert re.findall(r"GOMP_SPINCOUNT = '(\d+)'", done.stderr) == ["0"]


def test_a_torch_that_cannot_be_loaded_leaves_the_environment_alone(python):
    python(
        "import os, infomeans\n"
        "variables = dict(os.environ)\n"
        "try:\n"
        "    import torch\n"
        "except ImportError:\n"
        "    pass\n"
        "assert dict(os.environ) == variables\n"
        "del os.environ['BROKEN']\n"
        "import torch\n"
        "assert torch.policy == 'PASSIVE'\n",
        BROKEN="yes",
    )


@pytest.mark.parametrize("name", WAITING)
def test_what_a_user_has_set_counts(python, name):
    code = f"import infomeans, os, torch; print(torch.policy, os.environ[{name!r}])"
    given = "given" if name == "OMP_WAIT_POLICY" else "None"
    assert python(code, **{name: "given"}).stdout.split() == [given, "given"]


def test_torch_that_is_there_already_is_left_alone(python):
    python(
        "import sys, torch\n"
        "finders = list(sys.meta_path)\n"
        "import infomeans\n"
        "assert sys.meta_path == finders\n"
        "assert torch.policy is None\n"
    )


@pytest.mark.parametrize(
    ("first", "variables", "expected"),
    [
        ("torch", {}, 1),
        ("infomeans", {}, 4),
        ("torch", {"OMP_WAIT_POLICY": "PASSIVE"}, 4),
        ("infomeans", {"OMP_WAIT_POLICY": "ACTIVE"}, 4),
    ],
)
def test_threads_that_would_spin_are_not_used_unless_asked_for(python, first, variables, expected):
    done = python(
        f"import {first}, torch\n"
        "from infomeans import threads\n"
        "torch.get_num_threads = threads.available_cpus = lambda: 4\n"
        "torch.set_num_threads = lambda n: None\n"
        "print(threads.default_threads(1e12))\n"
        "with threads.limited(3), threads.step_threads(1e12) as asked:\n"
        "    print(asked)\n",
        **variables,
    )
    assert done.stdout.split() == [str(expected), "3"]


# How many


def test_a_limit_holds_inside_alone():
    before = torch.get_num_threads()
    with threads.limited(3):
        assert (torch.get_num_threads(), threads.asked(), threads.allowed()) == (3, 3, 3)
        with threads.limited(None):
            assert torch.get_num_threads() == 3
        with threads.limited(2):
            assert (torch.get_num_threads(), threads.allowed()) == (2, 2)
        assert (torch.get_num_threads(), threads.allowed()) == (3, 3)
    assert torch.get_num_threads() == before
    assert threads.asked() is None


def blas():
    """The numbers of threads of numpy's and scipy's BLAS."""
    return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_a_limit_holds_for_blas_too():
    before = blas()
    with threads.limited(1):
        assert blas() == {1}
        with threads.limited(2):
            assert blas() == {2}
        assert blas() == {1}
    assert blas() == before


def of_its_own_threads():
    """The numbers of threads of every BLAS that does not take them from OpenMP."""
    return [
        lib["num_threads"]
        for lib in threadpool_info()
        if lib["user_api"] == "blas" and lib["threading_layer"] != "openmp"
    ]


def test_a_limit_of_openmp_leaves_blas_as_it_is():
    before, outer = of_its_own_threads(), ExitStack()
    outer.enter_context(threads.limited(1))
    with threads.openmp_threads(1):
        outer.close()
    assert of_its_own_threads() == before


def test_a_limit_of_blas_holds_until_the_last_thread_has_left():
    first, second = ExitStack(), ExitStack()
    before = blas()
    first.enter_context(threads._blas_threads(1))
    second.enter_context(threads._blas_threads(1))
    first.close()
    assert blas() == {1}
    second.close()
    assert blas() == before


def test_an_error_gives_the_threads_back():
    before = torch.get_num_threads()
    with pytest.raises(RuntimeError), threads.limited(3):
        raise RuntimeError
    assert torch.get_num_threads() == before
    assert threads.asked() is None


@pytest.mark.parametrize("first", [0, 1])
def test_limits_in_two_threads_leave_nothing_behind(first):
    """Whichever leaves first."""
    before, blas_before, seen = torch.get_num_threads(), blas(), {}
    entered, left = Barrier(2), Barrier(2)

    def compute(number):
        with threads.limited(2 + number):
            entered.wait(10)
            seen[number] = torch.get_num_threads()
            if number != first:
                left.wait(10)
        seen[number, "after"] = torch.get_num_threads()
        if number == first:
            left.wait(10)

    together = [Thread(target=compute, args=(number,)) for number in range(2)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    later = Thread(target=lambda: seen.update(later=torch.get_num_threads()))
    later.start()
    later.join()
    assert seen == {
        0: 2, 1: 3, (0, "after"): before, (1, "after"): before, "later": before,
    }  # fmt: skip
    assert torch.get_num_threads() == before
    assert blas() == blas_before


@pytest.fixture
def large_machine(monkeypatch):
    """Sixteen CPUs, and torch would use them all."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(threads, "available_cpus", lambda: 16)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 16)
    monkeypatch.setattr(threads, "threads_spin", lambda: False)


@pytest.mark.usefixtures("large_machine")
@pytest.mark.parametrize(
    ("shape", "network", "fewest", "most"),
    [
        ((36,), "auto", 1, 1),
        ((1000,), "auto", 1, 1),
        ((64,), None, 1, 1),
        ((768,), "residual", 1, 1),
        ((1, 8, 8), "auto", 1, 1),
        ((1, 16, 16), "auto", 2, 2),
        ((1, 28, 28), "auto", 2, 8),
        ((3, 64, 64), "auto", 16, 16),
    ],
)
def test_the_work_of_a_step_decides_by_default(shape, network, fewest, most):
    work = step_work(build_network(network, shape, 10), shape, batch_size=100)
    assert fewest <= threads.default_threads(work) <= most


def test_a_large_network_takes_no_more_than_there_are(monkeypatch):
    monkeypatch.setattr(threads, "threads_spin", lambda: False)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 8)
    monkeypatch.setattr(threads, "available_cpus", lambda: 4)
    assert threads.default_threads(1e12) == 4
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert threads.default_threads(1e12) == 2


@pytest.mark.usefixtures("large_machine")
def test_the_variable_of_openmp_is_no_less_than_a_limit(monkeypatch):
    assert threads.allowed() == 16
    monkeypatch.setenv("OMP_NUM_THREADS", "2,1")
    assert threads.allowed() == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    assert threads.allowed() == 16
