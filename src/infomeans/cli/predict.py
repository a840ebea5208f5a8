"""infomeans predict."""

from pathlib import Path
from typing import Annotated

import typer

from infomeans.cli.options import Device, IdColumn, Key, Limit, Strict, Threads, check_memory, read
from infomeans.cli.reporting import counted, echo, loading, note, progress


def predict(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run or a saved model.")],
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="New samples, of the same kind as the run's.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="A .csv or .parquet file; by default CSV goes to standard output."),
    ] = None,
    id_column: IdColumn = None,
    key: Key = None,
    device: Device = "auto",
    threads: Threads = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    strict: Strict = False,
    memory: Limit = None,
) -> None:
    """Assign new samples to the clusters of a run.

    Example: infomeans predict run new-photos/ --out new.csv
    """
    from infomeans.runs import Run, check_table, is_run

    check_memory(memory)
    if out is not None:
        check_table(out, overwrite=overwrite)
    with loading():
        from infomeans.workflows import predict as workflow

    model = workflow.load_clusterer(run)
    reading = {"like": run, "id_column": id_column, "key": key, "strict": strict}
    samples = read(source, memory=memory, beside=out, **reading)
    model.set_params(device=device, n_threads=threads)
    with progress("predicting") as bar:
        names = Run(run).names if is_run(run) else None
        labels = workflow.predict(model, samples, bar, names=names)
    if out is None:
        for text in labels.csv():
            echo(text)
    else:
        labels.write(out)
        note(f"{counted(labels.ids, 'sample')}: {out}")
