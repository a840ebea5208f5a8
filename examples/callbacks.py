"""Watch a training, and end a phase early, with a callback."""

from sklearn.datasets import load_digits

from infomeans import MIADM
from infomeans.training import Callback, Record


class Log(Callback):
    """Prints one line per epoch."""

    def on_phase(self, phase: str, epochs: int) -> None:
        """A phase begins."""
        print(f"{phase}: at most {epochs} epochs" if epochs else phase)

    def on_epoch(self, record: Record) -> None:
        """An epoch is over."""
        information = "" if record.mi is None else f"  I(X;K) {record.mi:.3f}"
        print(f"  {record.phase} {record.epoch:2}  loss {record.loss:.4f}{information}")


class StopWhenFlat(Callback):
    """Ends a phase when its loss has not fallen by 1 % for some epochs in a row."""

    def __init__(self, patience: int) -> None:
        self.patience = patience

    def on_phase(self, phase: str, epochs: int) -> None:
        """Every phase starts anew."""
        self.best, self.waited = float("inf"), 0

    def on_epoch(self, record: Record) -> bool:
        """True ends the phase."""
        better = record.loss < 0.99 * self.best
        self.waited = 0 if better else self.waited + 1
        self.best = min(self.best, record.loss)
        return self.waited >= self.patience


digits = load_digits(n_class=3)  # 537 digits, as vectors of 64 pixels
model = MIADM(
    n_clusters=3,
    pretrain_epochs=10,
    warmup_epochs=10,
    epochs=20,
    random_state=0,
    callbacks=[Log(), StopWhenFlat(patience=2)],
).fit(digits.data)

# The history holds the same records, as dictionaries.
last = model.history_[-1]
print(f"{len(model.history_)} epochs; the last took {last['seconds']:.2f} s")
