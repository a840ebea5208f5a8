import io

import pytest
from rich.console import Console

from infomeans.durations import duration
from infomeans.progress import Lines, Pace, draws_bars, make_bars


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "<1 s"), (0.99, "<1 s"), (1, "1 s"), (45.4, "45 s"), (59.6, "1 min 0 s"),
        (200, "3 min 20 s"), (3599.7, "1 h 0 min"), (3900, "1 h 5 min"), (100_000, "27 h 46 min"),
    ],
)  # fmt: skip
def test_a_duration_has_two_units_at_most(seconds, words):
    assert duration(seconds) == words


def test_the_pace_leaves_out_what_was_done_before_and_what_the_first_step_set_up():
    clock = Clock()
    pace = Pace(clock)
    clock.now += 50
    pace.move(22)
    assert pace.left(43) is None
    clock.now += 2
    pace.move(23)
    assert pace.left(43) == 40
    clock.now += 1.5
    assert pace.left(43) == 38.5
    clock.now += 100
    assert pace.left(43) == 0


def test_a_bar_shows_the_time_left():
    clock = Clock()
    screen = Terminal()
    bars, pace = make_bars(Console(file=screen, width=80), clock), Pace(clock)
    with bars:
        task = bars.add_task("reading", total=100, count="", pace=pace, note="")
        for done in (1, 26):
            pace.move(done)
            bars.update(task, completed=done, count=f"{done}/100")
            clock.now += 25
        bars.refresh()
        assert "26/100 50 s, 49 s left" in screen.getvalue()
        bars.update(task, completed=100, count="100/100")
    assert "100/100 50 s  " in screen.getvalue()


def test_colours_make_no_terminal_of_a_file(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not draws_bars(Console(file=io.StringIO()))
    assert draws_bars(Console(file=Terminal()))
    monkeypatch.setenv("TERM", "dumb")
    assert not draws_bars(Console(file=Terminal()))


@pytest.mark.parametrize(("whole", "gap"), [(None, 30), (60, 30), (1000, 100), (1e6, 600)])
def test_lines_are_rarer_in_longer_work(whole, gap):
    clock = Clock()
    lines = Lines(Console(file=io.StringIO()), clock, first=3)
    clock.now += 2.9
    assert not lines.due(whole)
    clock.now += 0.1
    assert lines.due(whole)
    lines.say("so far")
    clock.now += gap - 1
    assert not lines.due(whole)
    clock.now += 1
    assert lines.due(whole)
