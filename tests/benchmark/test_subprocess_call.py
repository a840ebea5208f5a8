import os
import signal
import subprocess
import sys
import time

import pytest

from infomeans.benchmark.subprocess_call import call_in_process

PARENT = """
import time

from infomeans.benchmark.subprocess_call import call_in_process

def child():
    print("running", flush=True)
    time.sleep(180)

if __name__ == "__main__":
    call_in_process(child)
"""


def test_what_a_call_returns_comes_back():
    assert call_in_process(os.getpid) != os.getpid()
    assert call_in_process(divmod, 7, 3) == (2, 1)


def test_what_a_call_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        call_in_process(divmod, 1, 0)


def test_a_call_whose_process_is_killed_fails():
    with pytest.raises(RuntimeError, match=r"its process ended with code 3\."):
        call_in_process(os._exit, 3)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no signals")
@pytest.mark.parametrize("kind", ["SIGKILL", "SIGINT", "SIGTERM"])
def test_a_call_ends_with_the_process_that_waits_for_it(kind, tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen(
        [sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as parent:
        assert parent.stdout.readline() == b"running\n"
        began = time.perf_counter()
        parent.send_signal(getattr(signal, kind))
        # The output of both ends only when both have ended.
        parent.communicate(timeout=60)
        assert time.perf_counter() - began < 30
