"""Call a function in a separate process."""

import os
import signal
from collections.abc import Callable
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any


def call_in_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new process; return what it returns, raise what it raises.

    The peak memory measured there is that of the call. If the new process dies, this one goes on.
    If this one dies or is interrupted, the new one ends too: it must not run beside the process
    that later resumes its work.
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
    # Ctrl-C reaches both processes; the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    outcome: tuple[bool, Any]
    try:
        outcome = False, function(*arguments)
    except Exception as error:  # the parent raises it
        outcome = True, error
    sender.send(outcome)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
