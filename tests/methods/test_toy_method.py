"""A method of one's own: it touches its own file, and nothing else changes."""

from typing import Literal

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from infomeans import functional as IF
from infomeans.estimators import make_clusterer
from infomeans.methods.logistic import Logistic
from infomeans.methods.parameters import NotNegative
from infomeans.methods.state import Neighbors, SampleState
from infomeans.training import Callback

QUICK = {"init": "graph", "pretrain_epochs": 4, "warmup_epochs": 3, "epochs": 4, "random_state": 0}
seen = {}


class Multipliers(Logistic):
    """Targets with a multiplier for every sample and cluster, and a pull towards neighbours.

    Parameters
    ----------
    n_clusters, n_features : int
    rho : float
        Step of the multipliers.
    mode : {"squared", "plain"}
        Of the targets.
    """

    wants_neighbors = True

    def __init__(
        self,
        n_clusters: int,
        n_features: int,
        *,
        rho: NotNegative = 0.1,
        mode: Literal["squared", "plain"] = "squared",
    ) -> None:
        super().__init__(n_clusters, n_features)
        self.rho = rho
        self.power = 2.0 if mode == "squared" else 1.0

    @property
    def columns(self):
        return {"multipliers": (self.n_clusters,)}

    def parameter_groups(self, network):
        return [
            {"params": list(network.parameters())},
            {"params": list(self.parameters()), "lr": 1e-2},
        ]

    def refresh(self, state):
        p = state.map(self)
        state.targets = IF.weighted_targets(p.log(), self.power, self.log_prior)
        state.columns["multipliers"] += self.rho * (state.targets - p)

    def loss(self, batch):
        seen.update(columns=batch.columns, index=batch.index, x=batch.x, neighbors=batch.neighbors)
        log_p = self.log_posteriors(batch.noisy)
        pull = F.mse_loss(self.log_posteriors(batch.neighbors_noisy).exp(), log_p.exp())
        multiplied = (batch.columns["multipliers"] * log_p.exp()).sum(dim=1).mean()
        return {
            "clustering": IF.cross_entropy(batch.q, log_p),
            "multipliers": multiplied,
            "neighbors": pull,
            "reconstruction": batch.reconstruction,
        }


Toy = make_clusterer("Toy", Multipliers)


def test_the_estimator_has_the_parameters_that_the_method_declares(blobs):
    assert Toy(3).get_params()["rho"] == 0.1
    assert clone(Toy(3, rho=0.5, mode="plain")).mode == "plain"
    assert "Step of the multipliers" in Toy.__doc__
    for wrong in ({"rho": -1.0}, {"mode": "cubed"}):
        with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of Toy"):
            Toy(4, **wrong).fit(blobs[0])


def test_it_keeps_columns_sees_neighbours_and_names_its_terms(blobs):
    X, classes = blobs
    model = Toy(4, batch_size=20, **QUICK).fit(X)
    assert adjusted_rand_score(classes, model.labels_) > 0.95
    assert {"clustering", "multipliers", "neighbors", "reconstruction"} <= {*model.history_[-1]}
    assert seen["columns"]["multipliers"].shape == (20, 4)
    assert seen["columns"]["multipliers"].abs().max() > 0
    assert seen["neighbors"].shape == seen["x"].shape
    scaled = model.model_.prepare(X, torch.device("cpu"))
    torch.testing.assert_close(scaled[seen["index"]], seen["x"])
    # A neighbour in the graph lies nearer than other samples do.
    far = torch.cdist(seen["x"], scaled).mean()
    assert (seen["x"] - seen["neighbors"]).norm(dim=1).mean() < far / 2


@pytest.mark.parametrize("start", [{"init": "kmeans"}, {"init": "array"}, {"preset": "paper"}])
def test_it_sees_neighbours_whatever_the_start(start, blobs):
    X, classes = blobs
    start = {"init": classes} if "array" in start.values() else start
    model = Toy(4, **{**QUICK, "init": "auto", **start}).fit(X)
    assert adjusted_rand_score(classes, model.labels_) > 0.95
    assert "neighbors" in model.history_[-1]


class Stop(Callback):
    def __init__(self, phase, epoch):
        self.at = phase, epoch

    def on_epoch(self, record):
        if (record.phase, record.epoch) == self.at:
            raise KeyboardInterrupt


def test_its_columns_survive_an_interruption(blobs, tmp_path):
    X, whole = blobs[0], Toy(4, **QUICK).fit(blobs[0])
    state = tmp_path / "state.safetensors"
    with pytest.raises(KeyboardInterrupt):
        Toy(4, checkpoint=state, callbacks=[Stop("alternate", 2)], **QUICK).fit(X)
    resumed = Toy(4, checkpoint=state, **QUICK).fit(X)
    np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))


class WithoutStart(Multipliers):
    """Begins with the alternation, after a pretraining of its own."""

    wants_start = False
    pretraining = "own"

    def pretraining_loss(self, batch):
        return {"spread": -batch.noisy.var(dim=0).mean()}

    def start(self, state):
        torch.nn.init.normal_(self.weight)

    def loss(self, batch):
        log_p, near = (self.log_posteriors(z) for z in (batch.noisy, batch.neighbors_noisy))
        pull = F.mse_loss(near.exp(), log_p.exp())
        return {"clustering": IF.cross_entropy(batch.q, log_p), "neighbors": pull}


def test_a_method_may_want_no_start_and_a_pretraining_of_its_own(blobs):
    model = make_clusterer("Free", WithoutStart)(4, **QUICK).fit(blobs[0])
    assert [r["phase"] for r in model.history_] == ["pretrain"] * 4 + ["alternate"] * 4
    assert "spread" in model.history_[0]
    assert "reconstruction" not in model.history_[0]
    assert model.initial_labels_ is None
    assert model.history_[3]["spread"] < model.history_[0]["spread"]


def test_neighbours_without_a_start_survive_an_interruption(blobs, tmp_path):
    free, X = make_clusterer("Free", WithoutStart), blobs[0]
    whole, state = free(4, **QUICK).fit(X), tmp_path / "state.safetensors"
    with pytest.raises(KeyboardInterrupt):
        free(4, checkpoint=state, callbacks=[Stop("alternate", 1)], **QUICK).fit(X)
    resumed = free(4, checkpoint=state, **QUICK).fit(X)
    np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))


class Bare(Multipliers):
    pretraining = "none"


def test_a_method_may_want_no_pretraining(blobs):
    model = make_clusterer("Bare", Bare)(4, **QUICK).fit(blobs[0])
    assert {r["phase"] for r in model.history_} == {"warm-up", "alternate"}


def test_a_state_can_be_sliced():
    state = SampleState(
        torch.randn(6, 2),
        torch.eye(6)[:, :3],
        initial=torch.arange(6),
        neighbors=Neighbors(torch.arange(6)[:, None], torch.ones(6, 1)),
        columns={"radius": ()},
    )
    state.columns["radius"] += torch.arange(6.0)
    part = state[torch.tensor([4, 1])]
    assert part.index.tolist() == [4, 1]
    assert part.columns["radius"].tolist() == [4, 1]
    assert part.neighbors.ids.flatten().tolist() == [4, 1]
    torch.testing.assert_close(part.embedding, state.embedding[[4, 1]])
    sums = [
        state[rows].total(lambda z, q: {"z": z.sum(0)})["z"] for rows in torch.arange(6).split(2)
    ]
    torch.testing.assert_close(sum(sums), state.embedding.sum(0))
