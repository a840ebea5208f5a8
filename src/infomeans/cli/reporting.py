"""Terminal output: progress bars, and one clear line per error."""

from __future__ import annotations

import inspect
import sys
import webbrowser
from collections.abc import Callable, Iterator, Sized
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from infomeans.durations import duration
from infomeans.errors import InputError, visible
from infomeans.progress import Lines, Pace, draws_bars, make_bars
from infomeans.torchrun import is_first, speaks_first

console = Console(quiet=not is_first())
errors = Console(stderr=True, quiet=not is_first())

PATIENCE = 3.0
"""Seconds without a word before a line says how far reading is."""

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def command(
    app: typer.Typer, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a function as a command whose errors are one line each, unless --debug is given.

    Exit codes: 2 for invalid input, 1 for errors of the system, 130 for Ctrl-C.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(*args: Any, debug: bool = False, **options: Any) -> None:
            with _one_line(debug):
                function(*args, **options)

        signature = inspect.signature(function)
        extra = inspect.Parameter(
            "debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Debug
        )
        run.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*signature.parameters.values(), extra]
        )
        run.__annotations__ = {**function.__annotations__, "debug": Debug}
        app.command(name)(run)
        return run

    return register


@contextmanager
def _one_line(debug: bool) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        if debug:
            raise
        fail(*error.problems, code=2)
    except OSError as error:
        if debug:
            raise
        where = f"{error.filename}: " if error.filename else ""
        fail(where + (error.strerror or str(error)), code=1)


def plain(text: object) -> str:
    """Text without markup, with control characters shown as escapes; all output passes here."""
    return escape(visible(str(text)))


def fail(*messages: str, code: int) -> None:
    """Print one line per error and exit; of several processes, only the first to fail prints."""
    errors.quiet = not speaks_first()
    for message in messages:
        errors.print(f"[red]Error:[/red] {plain(message)}", highlight=False, soft_wrap=True)
    raise typer.Exit(code)


def warn(message: str) -> None:
    """Print a warning on standard error."""
    errors.print(f"[yellow]Warning:[/yellow] {plain(message)}", highlight=False, soft_wrap=True)


def say(message: str) -> None:
    """Print a line on standard output, without markup."""
    console.print(plain(message), highlight=False, soft_wrap=True)


def open_page(path: Path) -> None:
    """Open a page in the browser, or say where it is."""
    if not webbrowser.open(path.absolute().as_uri()):
        warn(f"No browser could be opened; open {path} yourself.")


def note(message: str) -> None:
    """Print a line on standard error, without markup."""
    errors.print(plain(message), highlight=False, soft_wrap=True)


def echo(text: str) -> None:
    """Write text to standard output as it is; on a terminal, control characters become escapes."""
    if sys.stdout.isatty():
        text = "\n".join(map(visible, text.split("\n")))
    typer.echo(text, nl=False)


def counted(items: Sized, what: str) -> str:
    """The number of items with their noun, such as "3 images"."""
    return f"{len(items)} {what}{'' if len(items) == 1 else 's'}"


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, updated by calls of (done, total).

    Without a terminal it prints lines instead, if the work takes longer than a few seconds.
    """
    with _bar(what) if draws_bars(errors) else _lines(what) as move:
        yield move


@contextmanager
def _bar(what: str) -> Iterator[Callable[[int, int], None]]:
    bar, pace = make_bars(errors, transient=True), Pace()
    task = bar.add_task(f"{what:<9}", total=None, count="", pace=pace, note="")

    def move(done: int, total: int) -> None:
        bar.start()
        pace.move(done)
        bar.update(task, completed=done, total=total, count=f"{done:,}/{total:,}")

    try:
        yield move
    finally:
        bar.stop()


@contextmanager
def _lines(what: str) -> Iterator[Callable[[int, int], None]]:
    lines, pace = Lines(errors, first=PATIENCE), Pace()

    def move(done: int, total: int) -> None:
        pace.move(done)
        left = pace.left(total)
        if left is not None and lines.due(pace.elapsed + left):
            lines.say(f"{what}: {done:,}/{total:,}, {duration(left)} left")

    yield move
    if lines.said:
        lines.say(f"{what}: done in {duration(pace.elapsed)}")


@contextmanager
def busy(what: str) -> Iterator[None]:
    """A spinner on standard error; without a terminal, a line before and one after."""
    if draws_bars(errors):
        with errors.status(what.capitalize()):
            yield
        return
    pace = Pace()
    note(what)
    yield
    note(f"{what}: done in {duration(pace.elapsed)}")


@contextmanager
def loading() -> Iterator[None]:
    """Import torch with a status line, and flush denormal numbers, which are slow, to zero."""
    with errors.status("Loading torch"):
        import torch

        yield
    torch.set_flush_denormal(True)
