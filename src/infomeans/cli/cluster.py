"""infomeans cluster."""

import glob
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    Seed,
    Strict,
    Threads,
    is_path,
    names,
    read,
)
from infomeans.cli.report import leave_report
from infomeans.cli.reporting import errors, loading, note, progress, say
from infomeans.cli.show import summarise
from infomeans.errors import InputError
from infomeans.methods.registry import METHODS

if TYPE_CHECKING:
    from infomeans.data import Samples
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
        int | None, typer.Option("-k", "--clusters", min=1, help="Number of clusters.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="Which method; `infomeans methods` lists them.")
    ] = "mi-adm",
    seed: Seed = 0,
    device: Device = "auto",
    threads: Threads = None,
    epochs: Annotated[
        int | None, typer.Option(min=0, help="Most epochs of the alternation.")
    ] = None,
    pretrain_epochs: Annotated[
        int | None, typer.Option(min=0, help="Epochs of the auto-encoder alone.")
    ] = None,
    augment: Annotated[
        bool,
        typer.Option(
            "--augment",
            help="Images may be turned, scaled, sheared, shifted a little: make use of it.",
        ),
    ] = False,
    embeddings: Annotated[
        bool,
        typer.Option(
            "--embeddings",
            help="Take vectors as embeddings of another model: move them, no auto-encoder.",
        ),
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Another parameter of the estimator."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="True classes, for scoring alone: a file, a column or 'folder'.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    image_size: Annotated[
        int | None,
        typer.Option(min=1, help="Resize images to so many pixels squared.", rich_help_panel=INPUT),
    ] = None,
    columns: Columns = None,
    id_column: IdColumn = None,
    key: Key = None,
    impute: Impute = None,
    data_dir: DataDir = None,
    strict: Strict = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="By default a new one, named after input and method.", rich_help_panel=RUN
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
            help="Go on with the run in --out, from its last epoch.",
            rich_help_panel=RUN,
        ),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace the run in --out.", rich_help_panel=RUN),
    ] = False,
) -> None:
    """Find the clusters of images, of a table or of an array.

    Example: infomeans cluster photos/ -k 10 --out run

    Example: infomeans cluster table.csv -k 5 --id-column name --labels species
    """
    from infomeans.runs import Run, check_free, free_folder

    reading = {
        "image_size": image_size,
        "columns": names(columns),
        "id_column": id_column,
        "key": key,
        "impute": impute,
        "labels": _lasting(labels) if labels and Path(labels).is_file() else labels,
        "data_dir": None if source is None or is_path(source) else _lasting(data_dir),
        "strict": strict,
    }
    given: dict[str, Any] = {
        "source": _lasting(source),
        "n_clusters": k,
        "method": method,
        "seed": seed,
        "reading": {name: value for name, value in reading.items() if value},
        "params": _params(
            settings, epochs=epochs, pretrain_epochs=pretrain_epochs, augment=augment or None
        ),
        "embeddings": embeddings,
        "parquet": parquet,
    }
    if resume and overwrite:
        raise InputError("--resume goes on with a run, --overwrite replaces it; give one of them.")
    if resume:
        if out is None:
            raise InputError("--resume needs --out, the run folder to go on with.")
        given = _agreed(Run(out), given, _named(ctx, given))
    if given["source"] is None or given["n_clusters"] is None:
        raise InputError("INPUT and -k, the number of clusters, are needed.")
    folder = out or free_folder(f"{_name(given['source'])}-{given['method']}")
    if not resume:
        check_free(folder, overwrite=overwrite)
    elif Run(folder).complete:
        say(f"{folder} is complete already; nothing is left to do.")
        if not Run(folder).report.exists():
            leave_report(Run(folder))
        return
    options = {"threads": threads, "resume": resume, "overwrite": overwrite}
    samples = _cluster(given, folder, device=device, **options)
    made = Run(folder)
    summarise(made)
    leave_report(made, samples)


def _cluster(given: dict[str, Any], folder: Path, *, device: str, **options: Any) -> "Samples":
    from infomeans.runs import Run, is_run

    with loading():
        from infomeans import jobs

    request = jobs.Request(**given)
    request.estimator(device)
    samples = read(request.source, **request.reading)
    deep = request.method in METHODS
    try:
        if deep:
            with progress("posteriors") as bar:
                options |= {"verbose": True, "progress": bar}
                jobs.cluster(request, samples, folder, device=device, **options)
        else:
            with errors.status("Clustering"):
                jobs.cluster(request, samples, folder, device=device, **options)
    except (KeyboardInterrupt, OSError) as error:
        if is_run(folder) and not Run(folder).complete:
            note(f"Stopped: {Run(folder).unfinished}")
        if isinstance(error, OSError):
            raise
        raise typer.Exit(130) from None
    return samples


def _lasting(given: str | Path | None) -> str | None:
    """What is a path means the same from anywhere; a name stays a name."""
    if given is None:
        return None
    return os.path.abspath(given) if is_path(str(given)) else str(given)


def _name(source: str) -> str:
    """What to call a run on this input."""
    fixed = [part for part in Path(source).parts if not glob.has_magic(part)]
    return Path(fixed[-1]).stem if fixed and fixed[-1] != os.sep else "run"


def _params(settings: list[str] | None, **named: int | None) -> dict[str, Any]:
    params: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    for setting in settings or ():
        name, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--set {setting} is not of the form NAME=VALUE.")
        if name in params:
            raise InputError(f"--set {setting}: {name} is given twice.")
        try:
            params[name] = json.loads(text)
        except ValueError:
            params[name] = text
    return params


def _named(ctx: typer.Context, given: dict[str, Any]) -> set[str]:
    """What was asked for on the command line itself."""
    typed = {
        {"k": "n_clusters"}.get(name, name)
        for name in ctx.params
        if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"
    }
    return typed | (given["params"].keys() if "settings" in typed else set())


def _agreed(run: "Run", given: dict[str, Any], named: set[str]) -> dict[str, Any]:
    """What a run was begun with; anything else that is asked for now contradicts it."""
    kept = run.config["arguments"]
    before, now = _flat(kept), _flat(given)
    for name in sorted(named & now.keys()):
        if now[name] != before.get(name):
            raise InputError(
                f"{run.path} was begun with {name} {before.get(name)!r}, not {now[name]!r}; "
                f"--resume goes on with what it was begun with."
            )
    return dict(kept)


def _flat(request: dict[str, Any]) -> dict[str, Any]:
    nested = {**request["reading"], **request["params"]}
    return {**{k: v for k, v in request.items() if k not in ("reading", "params")}, **nested}
