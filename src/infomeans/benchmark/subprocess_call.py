"""A call in a process of its own."""

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any


def call_in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns or raises in a process that does nothing else.

    Its peak of memory is its own. Whatever ends it does not end this process; but whatever ends
    this one, or the wait for it, ends that one as well, so that it does not go on beside the one
    that takes up its work.
    """
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_call, args=(sender, function, arguments))
    try:
        process.start()
        sender.close()
        failed, value = receiver.recv()
    except EOFError:
        process.join()
        raise RuntimeError(f"its process ended with code {process.exitcode}.") from None
    finally:
        if process.pid is not None:
            process.kill()
            process.join()
    if failed:
        raise value
    return value


def _call(sender: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    # An interrupt of the terminal reaches both processes; the one that waits says what follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    outcome: tuple[bool, Any]
    try:
        outcome = False, function(*arguments)
    except Exception as error:  # the other process deals with it
        outcome = True, error
    sender.send(outcome)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
