"""infomeans benchmark."""

from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from infomeans.cli.options import DataDir, names
from infomeans.cli.reporting import command, console, loading
from infomeans.errors import InputError

app = typer.Typer(help="The paper's tables and figure, measured.", no_args_is_help=True)

Many = Annotated[list[str] | None, typer.Option(help="Repeat it, or separate by commas.")]
Seeds = Annotated[list[str] | None, typer.Option(help="By default 0,1,2.")]
Out = Annotated[Path, typer.Option(help="Folder of the results.")]
Cache = Annotated[Path, typer.Option(help="Folder of pretrained auto-encoders.")]
RESULTS, CACHE = Path("benchmarks/results"), Path(".benchmark-cache")


@command(app)
def results(
    datasets: Many = None,
    methods: Many = None,
    seeds: Seeds = None,
    augment: Annotated[bool, typer.Option("--augment", help="Train on augmented images.")] = False,
    out: Out = RESULTS,
    data_dir: DataDir = None,
    cache: Cache = CACHE,
) -> None:
    """Run the methods and baselines on the paper's data sets, beside what it prints.

    What has a line in results.jsonl is not run again; stop it at any time and start it anew.

    Example: infomeans benchmark results --datasets usps,mnist-test --seeds 0,1,2
    """
    with loading():
        from infomeans.benchmark import grid

    jobs = grid.plan(
        names(datasets), names(methods), _numbers(seeds), augment=augment, data_dir=data_dir
    )
    lines = grid.Results(out / "results.jsonl")
    grid.run_grid(
        jobs,
        lines,
        data_dir=data_dir,
        cache=cache,
        announce=lambda text: console.print(text, highlight=False),
    )
    console.print(Markdown(grid.render(lines, out)))


@command(app)
def datasets(data_dir: DataDir = None) -> None:
    """Show the paper's table of data sets, from the files themselves.

    Example: infomeans benchmark datasets --data-dir data
    """
    from infomeans.benchmark.datasets import table

    console.print(Markdown(table(data_dir)))


def _numbers(seeds: list[str] | None) -> list[int]:
    try:
        return [int(seed) for seed in names(seeds) or ("0", "1", "2")]
    except ValueError:
        raise InputError(f"--seeds {','.join(seeds or ())} are not whole numbers.") from None
