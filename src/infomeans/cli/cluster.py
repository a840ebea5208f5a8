"""infomeans cluster."""

import glob
import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from warnings import catch_warnings, simplefilter

import typer

from infomeans.cli.options import (
    INPUT,
    RUN,
    Columns,
    DataDir,
    Device,
    IdColumn,
    Impute,
    Key,
    Limit,
    Seed,
    Strict,
    Threads,
    check_memory,
    is_path,
    names,
    read,
)
from infomeans.cli.report import leave_report
from infomeans.cli.reporting import busy, loading, note, say, warn
from infomeans.cli.show import summarise
from infomeans.errors import ClusteringWarning, InputError, Problems
from infomeans.methods.registry import DEEP
from infomeans.torchrun import is_first

if TYPE_CHECKING:
    from infomeans.data import Dataset
    from infomeans.estimators.base import SampleClusterer
    from infomeans.runs import Run


def cluster(
    ctx: typer.Context,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="INPUT",
            show_default=False,
            help="Folder of images, table, array file, glob, list of paths or benchmark name.",
        ),
    ] = None,
    k: Annotated[
        str,
        typer.Option(
            "-k",
            "--clusters",
            metavar="INTEGER|auto",
            help="Number of clusters; auto finds it.",
        ),
    ] = "auto",
    k_min: Annotated[
        int | None, typer.Option(min=1, help="Fewest clusters to find; 2 by default.")
    ] = None,
    k_max: Annotated[int | None, typer.Option(min=1, help="Most clusters to find.")] = None,
    method: Annotated[
        str,
        typer.Option(help="Clustering method; `infomeans methods` lists them. auto chooses."),
    ] = "auto",
    sizes: Annotated[
        str | None,
        typer.Option(
            metavar="auto|equal|free|SHARES",
            help="Sizes of the clusters: equal, learned, or shares such as 5,3,2. auto decides.",
        ),
    ] = None,
    seed: Seed = 0,
    device: Device = "auto",
    threads: Threads = None,
    epochs: Annotated[
        int | None, typer.Option(min=0, help="Maximum number of epochs of the alternation.")
    ] = None,
    pretrain_epochs: Annotated[
        int | None, typer.Option(min=0, help="Epochs of pretraining the auto-encoder.")
    ] = None,
    augment: Annotated[
        bool,
        typer.Option(
            "--augment",
            help="Train on images that are slightly rotated, scaled, sheared and shifted.",
        ),
    ] = False,
    embeddings: Annotated[
        bool,
        typer.Option(
            "--embeddings",
            help="Input vectors are embeddings of another model: fine-tune them, no auto-encoder.",
        ),
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Another parameter of the estimator."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="True classes, for scoring only: a file, a column or 'folder'.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    image_size: Annotated[
        int | None,
        typer.Option(
            min=1, help="Side length in pixels to resize images to.", rich_help_panel=INPUT
        ),
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(
            metavar="pad|crop|stretch",
            help="How to resize images of other proportions; by default chosen by their sizes.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    key: Key = None,
    impute: Impute = None,
    data_dir: DataDir = None,
    strict: Strict = False,
    memory: Limit = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Run folder; by default a new one, named after input and method.",
            rich_help_panel=RUN,
        ),
    ] = None,
    parquet: Annotated[
        bool,
        typer.Option("--parquet", help="Write labels.parquet too.", rich_help_panel=RUN),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Resume the run in --out after its last epoch; with --strict, exactly.",
            rich_help_panel=RUN,
        ),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace the run in --out.", rich_help_panel=RUN),
    ] = False,
) -> None:
    """Cluster images, a table or an array.

    Example: infomeans cluster photos/ -k 10 --out run

    Example: infomeans cluster table.csv -k 5 --id-column name --labels species
    """
    from infomeans.runs import Run, free_folder

    problems = Problems()
    reading = {
        "image_size": image_size,
        "fit": fit,
        "columns": names(columns),
        "id_column": id_column,
        "key": key,
        "impute": impute,
        "labels": _lasting(labels) if labels and Path(labels).is_file() else labels,
        "data_dir": None if source is None or is_path(source) else _lasting(data_dir),
        "strict": strict and not resume,
    }
    given: dict[str, Any] = {
        "source": _lasting(source),
        "n_clusters": _number(problems, k),
        "method": method,
        "seed": seed,
        "reading": {name: value for name, value in reading.items() if value},
        "params": _params(
            problems,
            settings,
            epochs=epochs,
            pretrain_epochs=pretrain_epochs,
            augment=augment or None,
            k_min=k_min,
            k_max=k_max,
            sizes=_sizes(problems, sizes),
        ),
        "embeddings": embeddings,
        "parquet": parquet,
    }
    if given["n_clusters"] != "auto" and (k_min or k_max):
        problems.add("--k-min and --k-max bound the number that is found; leave -k out.")
    if resume and overwrite:
        problems.add("--resume continues a run, --overwrite replaces it; give one of them.")
    if resume:
        with problems.collect():
            given = _begun(out, given, _named(ctx, given))
    folder = out or free_folder(f"{_name(given['source'] or '')}-{given['method']}")
    if resume and not problems and Run(folder).complete:
        say(f"{folder} is already complete; nothing to do.")
        if is_first() and not Run(folder).report.exists():
            leave_report(Run(folder))
        return
    if resume and memory is None and not problems:
        memory = Run(folder).config.get("memory")
    with problems.collect():
        check_memory(memory)
    _check(problems, given, folder, device=device, resume=resume, overwrite=overwrite)
    options = {
        "threads": threads,
        "resume": resume,
        "strict": strict and resume,
        "overwrite": overwrite,
    }
    if not is_first():
        _take_part(given, folder, device=device, threads=threads, memory=memory)
        return
    made, estimator, data = run_request(given, folder, device=device, memory=memory, **options)
    summarise(made)
    leave_report(made, data, estimator)


def _check(
    problems: Problems,
    given: dict[str, Any],
    folder: Path,
    *,
    device: str,
    resume: bool,
    overwrite: bool,
) -> None:
    """Report all mistakes that show before samples are read."""
    from infomeans.runs import check_free

    with loading():
        from infomeans.data.inputs import check_arguments
        from infomeans.workflows.request import Request

    if resume and problems:
        # The parameters that the run was started with are unknown.
        given = {**given, "params": {}}
    source = given["source"]
    if source is None and not resume:
        problems.add("INPUT, what to cluster, is missing.")
    with problems.collect():
        if source is not None:
            check_arguments(source, **_without(given["reading"], "strict", "data_dir"))
    with problems.collect():
        if not resume and is_first():
            check_free(folder, overwrite=overwrite)
    with problems.collect():
        Request(**given).estimator(device)
    problems.report()


def run_request(
    given: dict[str, Any],
    folder: Path,
    *,
    device: str,
    memory: str | int | None = None,
    **options: Any,
) -> "tuple[Run, SampleClusterer, Dataset]":
    """Read the input and run the request with these arguments, with progress bars."""
    from infomeans.runs import Run, is_run

    with loading():
        from infomeans.workflows.cluster import cluster as run_workflow
        from infomeans.workflows.request import Request

    request = Request(**given)
    data = read(request.source, memory=memory, beside=folder, **request.reading)
    deep = request.method in DEEP
    try:
        with nullcontext() if deep else busy("clustering"), catch_warnings():
            # The summary says the same.
            simplefilter("ignore", ClusteringWarning)
            run, estimator = run_workflow(
                request, data, folder, device=device, verbose=deep, tell=warn, **options
            )
    except (KeyboardInterrupt, OSError) as error:
        if is_run(folder) and not Run(folder).complete:
            note(f"Stopped: {Run(folder).unfinished}")
        if isinstance(error, OSError):
            raise
        raise typer.Exit(130) from None
    return run, estimator, data


def _take_part(
    given: dict[str, Any],
    folder: Path,
    *,
    device: str,
    threads: int | None,
    memory: str | int | None,
) -> None:
    """Train along in a process that torchrun has started, which is not the first."""
    from infomeans.workflows.cluster import take_part
    from infomeans.workflows.request import Request

    request = Request(**given)
    with catch_warnings():
        simplefilter("ignore", ClusteringWarning)
        data = read(request.source, memory=memory, beside=folder, **request.reading)
        take_part(request, data, folder, device=device, threads=threads)


def _without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _lasting(given: str | Path | None) -> str | None:
    """A path as an absolute path; other names unchanged."""
    if given is None:
        return None
    return os.path.abspath(given) if is_path(str(given)) else str(given)


def _name(source: str) -> str:
    """Name of a run on this input."""
    fixed = [part for part in Path(source).parts if not glob.has_magic(part)]
    return Path(fixed[-1]).stem if fixed and fixed[-1] != os.sep else "run"


def _number(problems: Problems, text: str) -> int | str:
    """The number of clusters, or "auto"."""
    if text != "auto" and not (text.isdecimal() and int(text) > 0):
        problems.add(f"-k {text} is neither a number of at least 1 nor auto.")
        return "auto"
    return text if text == "auto" else int(text)


def _sizes(problems: Problems, text: str | None) -> str | list[float] | None:
    """A name of sizes, or shares."""
    if text in (None, "auto", "equal", "free"):
        return text
    try:
        return [float(share) for share in text.split(",")]
    except ValueError:
        problems.add(f"--sizes {text} is not auto, equal, free or numbers such as 5,3,2.")
        return None


def _params(problems: Problems, settings: list[str] | None, **named: Any) -> dict[str, Any]:
    params: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    for setting in settings or ():
        name, equals, text = setting.partition("=")
        if not equals:
            problems.add(f"--set {setting} is not of the form NAME=VALUE.")
        elif name in params:
            problems.add(f"--set {setting}: {name} is given twice.")
        else:
            params[name] = _value(text)
    return params


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _named(ctx: typer.Context, given: dict[str, Any]) -> set[str]:
    """Names of the arguments that were typed on the command line."""
    typed = {
        {"k": "n_clusters"}.get(name, name)
        for name in ctx.params
        if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return typed | (given["params"].keys() if "settings" in typed else set())


def _begun(out: Path | None, given: dict[str, Any], named: set[str]) -> dict[str, Any]:
    """The arguments a run was started with; refuse others that contradict them."""
    from infomeans.runs import Run

    if out is None:
        raise InputError("--resume needs --out, the folder of the run to resume.")
    run = Run(out)
    kept: dict[str, Any] = dict(run.config["arguments"])
    now = {name: value for name, value in _flat(given).items() if name in named}
    run.check_resumed(_flat(kept), now)
    return kept


def _flat(request: dict[str, Any]) -> dict[str, Any]:
    nested = {**request["reading"], **request["params"]}
    return {**{k: v for k, v in request.items() if k not in ("reading", "params")}, **nested}
