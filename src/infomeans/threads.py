"""The number of threads, and how threads wait.

Waiting threads spin: on a busy machine they take the processor from the very thread that they wait
for. So waiting threads are made to sleep, and a step gets no more threads than its work keeps
busy. Nothing here imports torch before it is needed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from infomeans.torchrun import on_this_machine

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from threadpoolctl import ThreadpoolController

WORTH_A_THREAD = 500_000_000
"""Multiply-adds per step that justify one more thread; see `benchmarks/thread_steps.py`.

Up to 400 million, a second thread cost time in every network: threads synchronise some hundred
times in a step and have to be woken up each time.
"""

PASSIVE = "OMP_WAIT_POLICY"
_WAITING = (PASSIVE, "GOMP_SPINCOUNT", "KMP_BLOCKTIME", "KMP_LIBRARY")
"""Variables that set how threads wait, in the OpenMP runtimes of GNU, Intel and LLVM."""

_asked: ContextVar[int | None] = ContextVar("infomeans_threads", default=None)


def available_cpus() -> int:
    """Number of CPUs this process may use, by its affinity and the quota of its container."""
    quota = cpu_quota()
    cpus = _cpus()
    # Rounded down: threads beyond the quota are throttled for the rest of each period.
    return cpus if quota is None else max(1, min(cpus, int(quota)))


def _cpus() -> int:
    if sys.version_info >= (3, 13):
        return os.process_cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cpu_quota(root: Path = Path("/")) -> float | None:
    """CPUs granted to this process by Linux control groups; None if there is no limit.

    A group can use no more than its parents, so the smallest quota counts.

    Parameters
    ----------
    root : Path
        Folder that contains `proc` and `sys`.
    """
    quotas = [
        quota
        for mounts, group in _groups(root)
        for mount in mounts
        for folder in _upwards(mount, group)
        if (quota := _quota(folder)) is not None
    ]
    return min(quotas, default=None)


def _groups(root: Path) -> Iterator[tuple[list[Path], str]]:
    """Possible mounts of the control groups that may limit CPUs, with the path in the mount."""
    mount = root / "sys/fs/cgroup"
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if not controllers:
            yield [mount], group
        elif "cpu" in controllers.split(","):
            yield [mount / controllers, mount / "cpu"], group


def _upwards(mount: Path, group: str) -> list[Path]:
    """The folders of a group and of all its parents.

    In a container the mount may be the group itself, and the path one of the host that does not
    exist below it.
    """
    parts = PurePosixPath(group).parts[1:]
    if ".." in parts:
        return [mount]
    return [mount.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1)]


def _quota(folder: Path) -> float | None:
    """Quota over period; cgroup version 2 has them in one file, version 1 in two."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        # No limit is "max" in version 2, and -1 in version 1.
        with suppress(OSError, ValueError):
            quota, period = " ".join((folder / name).read_text() for name in names).split()
            if int(quota) > 0 and int(period) > 0:
                return int(quota) / int(period)
    return None


def sleep_while_waiting() -> None:
    """Make the threads of torch sleep while they wait, if torch is not imported yet.

    OpenMP reads this from the environment once, when torch is loaded. So the variable is set only
    while torch is loaded, whoever imports it. If the user has set one, it is not changed.
    """
    if "torch" in sys.modules or any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())


class _Loaded:
    """Whether torch was loaded with a passive wait policy, or with the one that the user chose."""

    passive = False


def threads_spin() -> bool:
    """Whether torch was imported before infomeans, with no wait policy in the environment."""
    chosen = any(name in os.environ for name in _WAITING)
    return "torch" in sys.modules and not _Loaded.passive and not chosen


class _Finder:
    """Import hook that finds torch as usual, and loads it with a passive wait policy."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "torch":
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        specs = (finder.find_spec(name, path, target) for finder in others)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            self._wrap(spec.loader)
        return spec

    def _wrap(self, loader: Any) -> None:
        load = loader.exec_module

        def load_passive(torch: Any) -> None:
            with _passive():
                load(torch)
                # Some runtimes read the environment only on the first call.
                torch.get_num_threads()
            _Loaded.passive = True
            with suppress(ValueError):
                sys.meta_path.remove(self)

        loader.exec_module = load_passive


@contextmanager
def _passive() -> Iterator[None]:
    if any(name in os.environ for name in _WAITING):
        yield
        return
    os.environ[PASSIVE] = "PASSIVE"
    try:
        yield
    finally:
        os.environ.pop(PASSIVE, None)


def asked() -> int | None:
    """The number of threads requested through `limited`; None outside of it.

    It is one in a forked process, which has none of the threads that its parent had started: OpenMP
    would wait for them forever.
    """
    return 1 if _Forked.here else _asked.get()


def allowed() -> int:
    """Maximum number of threads: the requested number, otherwise the available CPUs.

    Processes that torchrun has started on this machine share them. OMP_NUM_THREADS may lower the
    default.
    """
    return asked() or min(_own_cpus(), _of_openmp())


def _own_cpus() -> int:
    """The CPUs of this process, if the processes that torchrun has started here share them."""
    return max(available_cpus() // on_this_machine(), 1)


def _of_openmp() -> int:
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) else sys.maxsize


@contextmanager
def limited(n_threads: int | None) -> Iterator[None]:
    """Compute with this number of threads, whatever the work.

    Parameters
    ----------
    n_threads : int, optional
        Number of threads; None changes nothing.
    """
    if _Forked.here:
        _forget_threads()
        n_threads = 1
    if n_threads is None:
        yield
        return
    before = _asked.set(n_threads)
    try:
        with _torch_threads(n_threads), _blas_threads(n_threads):
            yield
    finally:
        _asked.reset(before)


@contextmanager
def step_threads(work: float) -> Iterator[int]:
    """Set torch's number of threads for steps with this many multiply-adds, and yield it.

    A number requested through `limited` takes precedence.
    """
    n_threads = asked() or default_threads(work)
    with _torch_threads(n_threads):
        yield n_threads


def default_threads(work: float) -> int:
    """Number of threads that are worth their cost for a step with this many multiply-adds.

    It is never more than torch's own number, which the user may have set, or the number of CPUs.
    If waiting threads spin, because torch was imported before infomeans, it is one.
    More threads do not help on large machines either: they synchronise some hundred times in a
    step, and the more there are, the less work is in between.

    Examples
    --------
    >>> default_threads(50e6)  # a batch of vectors through a dense network
    1
    """
    import torch

    worth = 1 if threads_spin() else 1 + int(work // WORTH_A_THREAD)
    return min(worth, torch.get_num_threads(), _own_cpus())


@contextmanager
def openmp_threads(n_threads: int) -> Iterator[None]:
    """Let scikit-learn and faiss compute with this number of OpenMP threads."""
    # Leaving restores the libraries that were selected, and BLAS may be limited by another thread.
    with _controller().select(user_api="openmp").limit(limits=n_threads):
        yield


def _controller() -> ThreadpoolController:
    """The libraries with threads. Looking for them takes long; imports may have loaded new ones."""
    from threadpoolctl import ThreadpoolController

    with _Libraries.lock:
        modules = len(sys.modules)
        if _Libraries.modules != modules:
            _Libraries.controller = ThreadpoolController()
            # Another thread may import while the search lasts; then the next call looks again.
            _Libraries.modules = modules
        return _Libraries.controller


class _Libraries:
    """The libraries that were found, and how many modules were imported then."""

    modules = 0
    controller: ThreadpoolController
    lock = threading.Lock()


class _Inside(threading.local):
    """How deeply this thread is nested in `_torch_threads`."""

    depth = 0


class _Outside:
    """torch's number of threads outside of `_torch_threads`, and how often it is entered.

    The same for BLAS.
    """

    found = 1
    inside = 0
    blas: Any = None
    blas_limits: ClassVar[list[int]] = []


class _Forked:
    """Whether this process was forked from another one, and which has been told of it."""

    here = False
    told: int | None = None


_here, _lock = _Inside(), threading.Lock()


def _after_fork() -> None:
    """Start anew in a forked process, whose parent may have held the lock."""
    global _lock
    _Forked.here, _lock, _Libraries.lock = True, threading.Lock(), threading.Lock()
    _Outside.inside = 0
    _Outside.blas_limits.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _forget_threads() -> None:
    """Let all libraries of a forked process compute with one thread."""
    if _Forked.told != os.getpid():
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)
        _Forked.told = os.getpid()


@contextmanager
def _torch_threads(n_threads: int) -> Iterator[None]:
    """Set torch's number of threads, and restore the previous one afterwards.

    A thread that starts to use torch gets the number that was set last, in any thread. So the
    number found while other threads are inside would be theirs.
    """
    import torch

    with _lock:
        if not _Outside.inside:
            _Outside.found = torch.get_num_threads()
        before = torch.get_num_threads() if _here.depth else _Outside.found
        _Outside.inside += 1
        _here.depth += 1
        torch.set_num_threads(n_threads)
    try:
        yield
    finally:
        with _lock:
            _Outside.inside -= 1
            _here.depth -= 1
            torch.set_num_threads(before)


@contextmanager
def _blas_threads(n_threads: int) -> Iterator[None]:
    """Set the number of threads of numpy's and scipy's BLAS, and restore the previous one.

    All threads of a process share this number. When one leaves, the limit of another that is still
    inside holds. The last one to leave restores the first number.
    """
    with _lock:
        blas = _controller().select(user_api="blas")
        if not _Outside.blas_limits:
            _Outside.blas = blas.limit(limits=None)
        _Outside.blas_limits.append(n_threads)
        blas.limit(limits=n_threads)
    try:
        yield
    finally:
        with _lock:
            _Outside.blas_limits.remove(n_threads)
            if _Outside.blas_limits:
                blas.limit(limits=_Outside.blas_limits[-1])
            else:
                _Outside.blas.restore_original_limits()
