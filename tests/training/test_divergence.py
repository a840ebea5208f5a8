"""A loss that turns NaN or infinite."""

import numpy as np
import pytest
import torch
from tests.training.bare import BareTrainer
from torch import nn

from infomeans import MIADM
from infomeans.errors import ClusteringWarning, InputError
from infomeans.methods import METHODS
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.networks import Identity
from infomeans.training import Callback, make_fabric, resolve_settings
from infomeans.training.checkpoint import Checkpoint
from infomeans.training.phases import HALVINGS, Loop

LENGTHS = {
    "init": "graph",
    "pretrain_epochs": 2,
    "warmup_epochs": 2,
    "epochs": 4,
    "random_state": 0,
}


class Failing(nn.Module):
    """A network whose embedding in training is wrong in some passes."""

    def __init__(self, passes, value=float("nan"), through=True):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(6, 4), nn.Linear(4, 6)
        self.passes, self.value, self.through, self.done = passes, value, through, 0

    def encode(self, x):
        z = self.encoder(x)
        self.done += self.training
        return z * self.value if self.training and self.done in self.passes else z

    def decode(self, z):
        return self.decoder(z)


class Spoiling(torch.autograd.Function):
    """The gradient is NaN, the value is not."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * float("nan")


class BadGradient(Failing):
    def encode(self, x):
        z = self.encoder(x)
        self.done += self.training
        return Spoiling.apply(z) if self.training and self.done in self.passes else z


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_fails_once_is_undone_with_half_the_rate(blobs, value):
    model = MIADM(4, network=Failing({3}, value), **LENGTHS)
    with pytest.warns(ClusteringWarning, match=r"phase pretrain: 1 epoch was undone.* 1/2\."):
        model.fit(blobs[0])
    undone = [(record["phase"], record["halvings"]) for record in model.history_]
    assert undone.count(("pretrain", 1)) == 1
    assert sum(times is not None for _, times in undone) == 1
    assert all(np.isfinite(record["loss"]) for record in model.history_)
    assert np.isfinite(model.predict_proba(blobs[0])).all()


def test_a_gradient_that_fails_once_is_undone_too(blobs):
    model = MIADM(4, network=BadGradient({2}), **LENGTHS)
    with pytest.warns(ClusteringWarning, match="1 epoch was undone"):
        model.fit(blobs[0])
    assert all(weight.isfinite().all() for weight in model.network_.parameters())


@pytest.mark.parametrize("network", [Failing, BadGradient])
def test_a_loss_that_always_fails_stops_the_training_and_names_the_phase(blobs, network):
    module = network(range(1_000_000))
    with pytest.raises(InputError, match=f"phase pretrain has already halved .* {HALVINGS} times"):
        MIADM(4, network=module, **LENGTHS).fit(blobs[0])
    assert all(weight.isfinite().all() for weight in module.parameters())


class FailingMethod(MIADMMethod):
    """Fails in the alternation, after its first epoch."""

    first, last, looks = 1, 10**9, 0

    def loss(self, batch):
        terms = super().loss(batch)
        self.looks += 1
        bad = self.first <= self.looks - 1 < self.last
        return {**terms, "clustering": terms["clustering"] * (float("nan") if bad else 1)}


def trained(blobs, method, path, **options):
    x = torch.tensor(blobs[0], dtype=torch.float32)
    settings = resolve_settings("fast", 200, warmup_epochs=0, epochs=4, batch_size=200)
    trainer = BareTrainer(
        make_fabric("cpu"),
        Identity(),
        settings,
        seed=0,
        checkpoint=Checkpoint(path, {}) if path else None,
        **options,
    )
    trainer.train((x - x.mean(0)) / x.std(0), method, torch.tensor(blobs[1]))
    return trainer


def test_the_last_good_state_stays_on_disk(blobs, tmp_path):
    method = FailingMethod(4, 6)
    with pytest.raises(InputError, match="phase alternate has already halved"):
        trained(blobs, method, tmp_path / "state")
    saved = Checkpoint(tmp_path / "state", {}).load()
    assert (saved["phase"], saved["next"]) == ("alternate", 1)
    assert all(value.isfinite().all() for value in saved["method"].values())
    assert all(value.isfinite().all() for value in method.state_dict().values())
    assert torch.equal(saved["method"]["weight"], method.weight)


def test_the_schedule_goes_on_at_half_the_rate(blobs, monkeypatch):
    rates, descend = {}, Loop._descend

    def watched(loop, loss, share):
        rates.setdefault(loop, []).append(loop.optimizer.param_groups[0]["lr"])
        descend(loop, loss, share)

    monkeypatch.setattr(Loop, "_descend", watched)
    trained(blobs, MIADMMethod(4, 6), None)
    method = FailingMethod(4, 6)
    method.last = 2
    trainer = trained(blobs, method, None)
    whole, halved = rates.values()
    assert halved == pytest.approx([whole[0], *(rate / 2 for rate in whole[1:])])
    assert [record.halvings for record in trainer.history] == [None, 1, None, None]


class Killed(Callback):
    def on_epoch(self, record):
        if record.epoch == 2:
            raise KeyboardInterrupt


@pytest.mark.parametrize("slug", ["mi-adm", "mi-d", "depict"])
def test_a_resumed_training_keeps_the_halved_rate(blobs, tmp_path, slug):
    class Once(METHODS[slug].load()):
        looks = 0

        def loss(self, batch):
            self.looks += 1
            return {"clustering": super().loss(batch)["clustering"] * self.bad}

        @property
        def bad(self):
            return float("nan") if self.looks == 2 else 1.0

    whole = Once(4, 6)
    trained(blobs, whole, None)
    first, second = Once(4, 6), Once(4, 6)
    second.looks = 9  # its failure is over
    with pytest.raises(KeyboardInterrupt):
        trained(blobs, first, tmp_path / "state", callbacks=[Killed()])
    trainer = trained(blobs, second, tmp_path / "state")
    assert trainer.history[1].halvings == 1
    for name, value in whole.state_dict().items():
        assert torch.equal(value, second.state_dict()[name]), name
