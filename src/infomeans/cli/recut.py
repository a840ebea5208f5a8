"""infomeans recut."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.cluster import run_request
from infomeans.cli.options import Device, Limit, Threads, check_memory
from infomeans.cli.report import leave_report
from infomeans.cli.reporting import loading
from infomeans.cli.show import summarise
from infomeans.errors import InputError


def recut(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    k: Annotated[
        int | None, typer.Option("-k", "--clusters", min=1, help="Number of clusters.")
    ] = None,
    finer: Annotated[
        bool, typer.Option("--finer", help="Part the cluster that would part next.")
    ] = False,
    coarser: Annotated[
        bool, typer.Option("--coarser", help="Merge the two clusters that would merge next.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the new run; by default RUN-kN.")
    ] = None,
    device: Device = "auto",
    threads: Threads = None,
    memory: Limit = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the run in --out.")
    ] = False,
) -> None:
    """Make a run with more or fewer clusters from the network of another.

    Clusters merge or part along the tree of the run. Those that do not change keep their numbers
    and names. The network is not pretrained again.

    Example: infomeans recut run --finer

    Example: infomeans recut run -k 17 --out run-17
    """
    from infomeans.runs import Run, check_free, is_run
    from infomeans.runs.places import real_path

    if (k is not None) + finer + coarser != 1:
        raise InputError("give one of -k, --finer and --coarser.")
    check_memory(memory)
    base = Run(run)
    with loading():
        from infomeans.workflows.recut import recut_request

    request = recut_request(base, k, more=int(finer) - int(coarser))
    whole = real_path(run)
    folder = out or whole.with_name(f"{whole.name}-k{request.n_clusters}")
    if real_path(folder) == whole:
        raise InputError(f"{folder} is the run to start from; name another folder with --out.")
    if is_run(folder) and not overwrite:
        raise InputError(f"{folder} already holds a run; name another folder or add --overwrite.")
    check_free(folder, overwrite=overwrite)
    options = {"memory": memory, "threads": threads, "overwrite": overwrite}
    made, estimator, data = run_request(asdict(request), folder, device=device, **options)
    summarise(made)
    leave_report(made, data, estimator)
