"""Resume a training that was interrupted; it ends as if nothing had happened."""

from sklearn.datasets import load_digits

from infomeans import MIADM
from infomeans.training import Callback, Record


class PullThePlug(Callback):
    """Interrupts the training, as Ctrl-C, a full disk or the end of a time slot would."""

    def on_epoch(self, record: Record) -> None:
        """End the training in the middle."""
        if record.phase == "alternate" and record.epoch == 1:
            raise KeyboardInterrupt


images = load_digits(n_class=3).images[:200]  # a part, to be quick
settings = {"n_clusters": 3, "pretrain_epochs": 4, "epochs": 6, "random_state": 0}

try:
    # The state of the training goes into this file after every epoch.
    MIADM(**settings, checkpoint="training.safetensors", callbacks=[PullThePlug()]).fit(images)
except KeyboardInterrupt:
    print("interrupted")

# The same line again. It finds the file and continues after the last complete epoch.
resumed = MIADM(**settings, checkpoint="training.safetensors").fit(images)
print("resumed:", len(resumed.history_), "epochs in the history")

straight = MIADM(**settings).fit(images)
print("same labels as without the break:", (resumed.labels_ == straight.labels_).all())
