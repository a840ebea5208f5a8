"""infomeans benchmark."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markdown import Markdown

from infomeans.cli.options import LAST_SEED, DataDir, Threads, names
from infomeans.cli.reporting import command, console, counted, fail, loading, say
from infomeans.errors import InputError, visible
from infomeans.threads import limited

if TYPE_CHECKING:
    from infomeans.benchmark.job import Job
    from infomeans.benchmark.results_file import Results

app = typer.Typer(help="The paper's tables and figure, measured.", no_args_is_help=True)

Sets = Annotated[
    list[str] | None,
    typer.Option(
        help="Any of usps, mnist-test, mnist-full, cmu-pie, frgc, ytf, coil100, pendigits and "
        "digits; repeat the option or separate names by commas. By default those of the paper that "
        "are found (results), usps, cmu-pie and mnist-test (adm), or usps (lambda, link)."
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(help="Methods, baselines or variants; by default all methods and baselines."),
]
Seeds = Annotated[list[str] | None, typer.Option(help="Random seeds; by default 0,1,2.")]
Out = Annotated[Path, typer.Option(help="Folder for the results.")]
Cache = Annotated[Path, typer.Option(help="Folder for pretrained auto-encoders.")]
RESULTS, CACHE = Path("benchmarks/results"), Path(".benchmark-cache")


@command(app)
def results(
    datasets: Sets = None,
    methods: Methods = None,
    seeds: Seeds = None,
    augment: Annotated[
        bool, typer.Option("--augment", help="Train on augmented images; excludes kmeans.")
    ] = False,
    preset: Annotated[
        Literal["fast", "paper"],
        typer.Option(help="Settings of the training: fast, or those of the paper's text."),
    ] = "fast",
    most_epochs: Annotated[
        int | None,
        typer.Option(min=1, help="With --preset paper: maximum number of epochs of each phase."),
    ] = None,
    out: Out = RESULTS,
    data_dir: DataDir = None,
    cache: Cache = CACHE,
    threads: Threads = None,
) -> None:
    """Run the methods and baselines on the paper's data sets, and compare with its figures.

    Runs that are in results.jsonl (results-paper.jsonl with --preset paper) already are skipped.
    Stop at any time; the same command resumes.

    Example: infomeans benchmark results --datasets usps,mnist-test --seeds 0,1,2
    """
    with loading():
        from infomeans.benchmark import grid
        from infomeans.benchmark.results_file import Results

    jobs = grid.plan(
        names(datasets),
        names(methods),
        _numbers(seeds),
        augment=augment,
        preset=preset,
        most_epochs=most_epochs,
        data_dir=data_dir,
    )
    lines = Results(out / ("results.jsonl" if preset == "fast" else f"results-{preset}.jsonl"))
    with _running(jobs, lines, data_dir, cache, threads):
        _show(grid.render(lines, out))


@command(app)
def datasets(out: Out = RESULTS, data_dir: DataDir = None) -> None:
    """Count samples and classes of the data sets, and compare with the paper.

    Example: infomeans benchmark datasets --data-dir data
    """
    from infomeans.benchmark.datasets import table
    from infomeans.files import write_atomic

    text = table(data_dir)
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / "datasets.md", text)
    _show(text)


@command(app)
def adm(
    datasets: Sets = None,
    seeds: Seeds = None,
    out: Out = RESULTS,
    data_dir: DataDir = None,
    cache: Cache = CACHE,
    times: Annotated[
        bool, typer.Option("--times", help="Also measure times; needs an idle machine.")
    ] = False,
    threads: Threads = None,
) -> None:
    """Compare MI-ADM with MI-D and with other targets: the paper's Table 3 and figure.

    Runs that are in results.jsonl are read from there; the others are written to adm.jsonl. Times
    are measured on the first data set and written to adm-times.jsonl.

    Example: infomeans benchmark adm --datasets usps --seeds 0
    """
    _need_figures()
    with loading():
        from infomeans.benchmark import experiments, grid
        from infomeans.benchmark.results_file import Results

    chosen = names(datasets) or ["usps", "cmu-pie", "mnist-test"]
    grid.check_data(chosen, data_dir)
    jobs = experiments.adm_jobs(chosen, _numbers(seeds), data_dir)
    measured = Results(out / "adm-times.jsonl")
    if times:
        _announce(f"{chosen[0]}  times")
        with limited(threads):
            measured.append(experiments.times(chosen[0], data_dir=data_dir, cache=cache))
    lines = experiments.adm_lines(out, chosen)
    with _running(jobs, lines, data_dir, cache, threads):
        _show(experiments.write_adm(lines, measured, out))


@command(app, name="lambda")
def regularisation(
    datasets: Sets = None,
    seeds: Seeds = None,
    out: Out = RESULTS,
    data_dir: DataDir = None,
    cache: Cache = CACHE,
    threads: Threads = None,
) -> None:
    """Run SR-K-means with lambda from 1e-1 to 1e-5.

    Example: infomeans benchmark lambda --datasets usps
    """
    with loading():
        from infomeans.benchmark import experiments
        from infomeans.benchmark.results_file import Results

    jobs = experiments.lambda_jobs(names(datasets) or ["usps"], _numbers(seeds))
    lines = Results(out / "lambda.jsonl")
    with _running(jobs, lines, data_dir, cache, threads):
        _show(experiments.write_lambda(lines, out))


@command(app)
def link(
    datasets: Sets = None,
    seeds: Seeds = None,
    lam: Annotated[float, typer.Option(help="Regularisation of both methods.")] = 1e-4,
    out: Out = RESULTS,
    data_dir: DataDir = None,
    cache: Cache = CACHE,
    threads: Threads = None,
) -> None:
    """Follow MI-ADM and SR-K-means side by side, from the same start.

    Runs that are in link.jsonl already are skipped.

    Example: infomeans benchmark link --datasets usps --seeds 0
    """
    _need_figures()
    if not 0 < lam < float("inf"):
        raise InputError(f"--lam {lam:g} must be a number above 0.")
    with loading():
        from infomeans.benchmark.grid import check_data
        from infomeans.benchmark.link import follow, write_link
        from infomeans.benchmark.results_file import Results

    lines, chosen = Results(out / "link.jsonl"), names(datasets) or ["usps"]
    check_data(chosen, data_dir)
    for dataset in chosen:
        for seed in _numbers(seeds):
            known = {(row["dataset"], row["seed"], row["lam"]) for row in lines.rows()}
            if (dataset, seed, lam) not in known:
                _announce(f"{dataset}  seed {seed}")
                with limited(threads):
                    lines.append(follow(dataset, seed, lam=lam, data_dir=data_dir, cache=cache))
    _show(write_link(lines, out))


@contextmanager
def _running(
    jobs: "list[Job]", lines: "Results", data_dir: Path | None, cache: Path, threads: int | None
) -> "Iterator[None]":
    """Run the jobs; if any failed, exit with an error after the results are shown."""
    from infomeans.benchmark.grid import run_grid

    with limited(threads):
        failed = run_grid(jobs, lines, data_dir=data_dir, cache=cache, announce=_announce)
    yield
    if failed:
        fail(f"{counted(failed, 'run')} failed; see above.", code=1)


def _show(text: str) -> None:
    """Draw the tables if they fit the terminal, otherwise print the Markdown."""
    text = "\n".join(map(visible, text.split("\n")))
    fits = max(map(len, text.splitlines()), default=0) <= console.width
    if console.is_terminal and fits:
        console.print(Markdown(text))
    else:
        console.print(text, markup=False, highlight=False, soft_wrap=True)


def _announce(text: str) -> None:
    for line in text.split("\n"):
        say(line)


def _need_figures() -> None:
    if find_spec("matplotlib") is None:
        raise InputError("The figures need matplotlib: pip install 'infomeans[plots]'.")


def _numbers(seeds: list[str] | None) -> list[int]:
    given = names(seeds) or ["0", "1", "2"]
    if not all(seed.isdecimal() and int(seed) <= LAST_SEED for seed in given):
        raise InputError(
            f"--seeds {','.join(given)}: whole numbers from 0 to {LAST_SEED} are accepted."
        )
    return [int(seed) for seed in given]
