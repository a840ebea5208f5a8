"""A method with a pretraining of its own."""

import numpy as np
import pytest
import torch
from tests.training.bare import BareTrainer
from torch import nn

from infomeans.estimators import make_clusterer
from infomeans.methods.dcn import DCNMethod
from infomeans.networks import dense_autoencoder
from infomeans.training import Callback, make_fabric, resolve_settings
from infomeans.training import trainer as trainer_module
from infomeans.training.phases import mean_loss

QUICK = {"init": "graph", "pretrain_epochs": 4, "warmup_epochs": 2, "epochs": 2, "random_state": 0}


class Spread(DCNMethod):
    """Pretrains a scale of its own, together with the network."""

    pretraining = "own"

    def __init__(self, n_clusters: int, n_features: int) -> None:
        super().__init__(n_clusters, n_features)
        self.scale = nn.Parameter(torch.tensor(3.0))

    def pretraining_loss(self, batch):
        return {"spread": (self.scale - batch.noisy.std()).square()}


class Stop(Callback):
    def on_epoch(self, record):
        if record.epoch == 1:
            raise KeyboardInterrupt


@pytest.fixture
def spread():
    return make_clusterer("SpreadClusterer", Spread)


def test_steps_of_the_alternation_are_not_taken_while_pretraining(spread, blobs):
    model = spread(4, **QUICK).fit(blobs[0])
    assert [r["phase"] for r in model.history_][:4] == ["pretrain"] * 4
    assert model.history_[3]["spread"] < model.history_[0]["spread"]


def test_it_survives_an_interruption(spread, blobs, tmp_path):
    X, state = blobs[0], tmp_path / "state.safetensors"
    whole = spread(4, **QUICK).fit(X)
    with pytest.raises(KeyboardInterrupt):
        spread(4, checkpoint=state, callbacks=[Stop()], **QUICK).fit(X)
    resumed = spread(4, checkpoint=state, **QUICK).fit(X)
    np.testing.assert_array_equal(resumed.embedding_, whole.embedding_)
    assert resumed.method_.scale.equal(whole.method_.scale)


def test_it_stops_by_its_own_loss_and_goes_back_with_its_own_state(monkeypatch):
    given, scales = iter([0.5, 0.1, 0.9, 0.9, 0.9]), []

    def watched(fabric, step, x, index, processes):
        scales.append(step.method.scale.item())
        far = scales[-1] - step.network(x.batch(torch.cat(index))).std().item()
        assert mean_loss(fabric, step, x, index, processes) == pytest.approx(far**2)
        return next(given)

    monkeypatch.setattr(trainer_module, "mean_loss", watched)
    settings = resolve_settings("paper", 60, pretrain_epochs=9, pretrain_patience=3)
    trainer = BareTrainer(make_fabric("cpu"), dense_autoencoder(4, 2), settings, seed=0)
    trainer.model.method = Spread(2, 2)
    trainer.pretrain(torch.randn(60, 4))
    assert len(trainer.history) == 5
    assert trainer.method.scale.item() == scales[1] != scales[-1]
