import io

import numpy as np
import pytest
from rich.console import Console
from tests.test_progress import Clock, Terminal

from infomeans import DEC, MIADM, Autoencoder
from infomeans.training import Callback, ProgressBars, Record

PLAN = {"pretrain": 40, "start": 0, "warm-up": 20, "alternate": 10}


class Watched:
    """Progress of a training that is played: nine steps and what comes after them."""

    def __init__(self, file, width=100):
        self.file, self.clock = file, Clock()
        self.bars = ProgressBars(console=Console(file=file, width=width), clock=self.clock)

    def epochs(self, phase, epochs, seconds, mi=None):
        for epoch in epochs:
            for done in range(1, 10):
                self.clock.now += seconds / 10
                self.bars.on_step(done, 9)
            self.clock.now += seconds / 10
            self.bars.on_epoch(Record(phase, epoch, loss=0.25, mi=mi))

    def start(self, seconds):
        self.bars.on_phase("start", 0)
        self.clock.now += seconds

    @property
    def shown(self):
        return self.file.getvalue()


def test_bars_show_the_time_left_and_the_whole_before_the_first_epoch_is_over():
    seen = Watched(Terminal())
    seen.bars.on_plan(PLAN)
    seen.bars.on_phase("pretrain", 40)
    for done in (1, 2, 3):
        seen.clock.now += 0.6
        seen.bars.on_step(done, 9)
    # 6 s an epoch, a quarter more in the later phases: 39.7 of the one, 30 of the others.
    assert "About 7 min 43 s of training ahead, at most." in seen.shown
    assert "Epochs: pretrain 40, warm-up 20, alternate 10." in seen.shown
    seen.clock.now += 4.2
    seen.bars.on_epoch(Record("pretrain", 0, loss=0.25))
    seen.epochs("pretrain", range(1, 10), 6)
    seen.bars._view.bars.refresh()
    assert "10/40 1 min 0 s, 3 min 0 s left loss 0.2500" in seen.shown
    assert seen.shown.count("About") == 1
    seen.bars.on_end()


def test_a_resumed_bar_goes_on_at_the_pace_of_its_own_epochs():
    seen = Watched(Terminal())
    seen.bars.on_plan(PLAN)
    seen.bars.on_phase("pretrain", 40)
    seen.bars.on_resume("pretrain", 22)
    seen.bars._view.bars.refresh()
    assert "22/40" in seen.shown
    seen.epochs("pretrain", [22, 23], 5)
    seen.bars._view.bars.refresh()
    assert "24/40 10 s, 1 min 20 s left" in seen.shown
    assert "Epochs: pretrain 18, warm-up 20" in seen.shown
    seen.bars.on_end()


def test_a_phase_that_ends_early_is_complete_and_a_broken_one_is_not():
    seen = Watched(Terminal())
    seen.bars.on_phase("warm-up", 20)
    seen.epochs("warm-up", range(7), 1, mi=1.5)
    seen.bars.on_phase("alternate", 10)
    seen.epochs("alternate", range(2), 1, mi=1.6)
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        seen.bars.on_end()
    last = seen.shown[seen.shown.rindex("warm-up") :]
    assert "7/7  7 s  " in last
    assert "loss 0.2500  I(X;K) 1.500" in last
    assert "2/10" in last


def test_a_file_gets_a_line_when_a_phase_begins_and_one_when_it_ends():
    seen = Watched(io.StringIO(), width=20)
    seen.bars.on_plan(PLAN)
    seen.bars.on_phase("pretrain", 40)
    seen.bars.on_resume("pretrain", 30)
    seen.epochs("pretrain", range(30, 40), 2)
    seen.start(seconds=3)
    seen.bars.on_phase("warm-up", 20)
    seen.epochs("warm-up", range(5), 3, mi=1.5)
    seen.bars.on_phase("alternate", 10)
    seen.epochs("alternate", range(10), 2, mi=1.6)
    seen.bars.on_end()
    assert seen.shown.splitlines() == [
        "pretrain: up to 40 epochs",
        "pretrain: resumes after 30 of 40 epochs",
        "About 1 min 34 s of training ahead, at most. Epochs: pretrain 10, warm-up 20, "
        "alternate 10.",
        "pretrain: 40/40 epochs, loss 0.2500, 20 s; 1 min 15 s of training left at most",
        "start: looking for the initial clusters",
        "start: done, 3 s; 1 min 15 s of training left at most",
        "warm-up: up to 20 epochs",
        "warm-up: 5/20 epochs, loss 0.2500, I(X;K) 1.500, 15 s; 30 s of training left at most",
        "alternate: up to 10 epochs",
        "alternate: 10/10 epochs, loss 0.2500, I(X;K) 1.600, 20 s",
    ]


def test_a_file_gets_few_lines_of_a_long_phase():
    seen = Watched(io.StringIO())
    seen.bars.on_plan({"pretrain": 400, "alternate": 40})
    seen.bars.on_phase("pretrain", 400)
    seen.epochs("pretrain", range(400), 3)
    lines = [line for line in seen.shown.splitlines() if "left, in all" in line]
    assert 8 <= len(lines) <= 10
    # An epoch takes 3 s, and one of the later phase a quarter more.
    assert lines[0] == (
        "pretrain: 40/400 epochs, loss 0.2500, 2 min 2 s, 17 min 59 s left, in all 20 min 29 s at "
        "most"
    )
    assert "\x1b" not in seen.shown


class Noted(Callback):
    def __init__(self):
        self.calls = []

    def on_plan(self, phases):
        self.calls.append(("plan", phases))

    def on_phase(self, phase, epochs):
        self.calls.append((phase, epochs))

    def on_step(self, done, steps):
        self.calls.append(("step", done, steps))


@pytest.mark.parametrize(
    ("model", "plan"),
    [
        (MIADM(3, pretrain_epochs=2, warmup_epochs=1, epochs=1), {
            "pretrain": 2, "start": 0, "warm-up": 1, "alternate": 1,
        }),
        (DEC(3, pretrain_epochs=0, warmup_epochs=1, epochs=1), {
            "start": 0, "warm-up": 1, "alternate": 1,
        }),
        (MIADM(3, network="residual", warmup_epochs=1, epochs=1), {
            "start": 0, "warm-up": 1, "alternate": 1,
        }),
        (Autoencoder(3, epochs=2), {"pretrain": 2}),
    ],
)  # fmt: skip
def test_callbacks_know_the_plan_before_the_first_phase_and_see_every_step(model, plan):
    noted = Noted()
    X = np.random.default_rng(0).normal(size=(120, 5))
    model.set_params(callbacks=[noted], random_state=0, batch_size=50).fit(X)
    assert noted.calls[0] == ("plan", plan)
    assert [call for call in noted.calls if call[0] in plan] == list(plan.items())
    steps = [call[1:] for call in noted.calls if call[0] == "step"]
    assert steps == [(1, 3), (2, 3), (3, 3)] * sum(plan.values())


def test_looking_on_changes_nothing(blobs):
    lengths = {"pretrain_epochs": 2, "warmup_epochs": 2, "epochs": 2, "random_state": 0}
    seen = ProgressBars(console=Console(file=Terminal()))
    X = blobs[0]
    alone, watched = (MIADM(4, callbacks=c, **lengths).fit(X) for c in (None, [seen]))
    assert np.array_equal(alone.predict_proba(X), watched.predict_proba(X))
