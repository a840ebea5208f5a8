import multiprocessing
import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from joblib import Parallel, delayed
from torch import nn

from infomeans import MIADM, KMeansBaseline
from infomeans.randomness import Draws

QUICK = {"pretrain_epochs": 2, "warmup_epochs": 1, "epochs": 2, "n_threads": 1}


def of_every_kind():
    """Numbers of many random functions, of modules with noise, and of new weights."""
    torch.empty(3).log_normal_()
    attention = nn.MultiheadAttention(4, 2, dropout=0.5)
    recurrent = nn.LSTM(4, 3, num_layers=2, dropout=0.5)
    x = torch.ones(5, 2, 4)
    return [
        torch.rand(3),
        torch.randn(2, 2),
        torch.randperm(7),
        torch.randint(9, (4,)),
        torch.rand_like(x),
        torch.multinomial(torch.ones(3, 4), 2),
        torch.bernoulli(torch.full((5,), 0.5)),
        F.dropout(x, 0.4),
        F.dropout(x.clone(), 0.4, inplace=True),
        F.dropout2d(torch.ones(3, 2, 4, 4)),
        F.alpha_dropout(x, 0.3, training=True),
        F.gumbel_softmax(x, dim=-1),
        F.rrelu(-x, training=True),
        nn.Dropout(0.5)(x),
        nn.Linear(3, 2).weight,
        nn.Conv2d(1, 2, 3).weight,
        nn.init.orthogonal_(torch.empty(3, 3)),
        nn.init.trunc_normal_(torch.empty(3, 3)),
        attention(x, x, x)[0],
        recurrent(x)[0],
    ]


def test_numbers_are_those_of_the_global_generator_with_that_seed():
    with torch.random.fork_rng():
        torch.manual_seed(5)
        expected = of_every_kind()
    with Draws(5):
        drawn = of_every_kind()
    for one, other in zip(drawn, expected, strict=True):
        assert torch.equal(one, other)


def test_the_global_generators_do_not_move():
    before = torch.get_rng_state(), np.random.get_state()[1], random.getstate()  # noqa: NPY002
    with Draws(5), Draws(6):
        of_every_kind()
    MIADM(3, random_state=0, **QUICK).fit(np.random.default_rng(0).normal(size=(60, 4)))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    assert random.getstate() == before[2]


def test_the_inner_of_two_gives_the_numbers():
    with Draws(5):
        expected = of_every_kind()
    with Draws(1), Draws(5):
        drawn = of_every_kind()
    assert all(torch.equal(a, b) for a, b in zip(drawn, expected, strict=True))


def test_a_given_generator_is_used():
    with Draws(5):
        drawn = torch.rand(3, generator=torch.Generator().manual_seed(1))
    assert torch.equal(drawn, torch.rand(3, generator=torch.Generator().manual_seed(1)))


class Noisy(nn.Module):
    """A module of a user, with noise from torch's own modules and functions."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, 5))

    def forward(self, x):
        noise = torch.randn_like(x) if self.training else 0
        return self.layers(x + 0.1 * noise)


def fit(X, seed, kind):
    network = {"own": Noisy, "auto": None}[kind]
    made = {} if network is None else {"network": lambda shape, k: network(), "init": "graph"}
    model = MIADM(4, random_state=seed, **made, **QUICK).fit(X)
    return model.predict_proba(X), model.history_[-1]["loss"]


@pytest.mark.parametrize("kind", ["auto", "own"])
def test_fits_in_threads_are_the_same_as_alone(kind, blobs):
    X = blobs[0]
    alone = [fit(X, seed, kind) for seed in range(3)]
    with ThreadPoolExecutor(3) as pool:
        together = [*pool.map(lambda seed: fit(X, seed, kind), range(3))]
    for (posteriors, loss), (expected, expected_loss) in zip(together, alone, strict=True):
        np.testing.assert_array_equal(posteriors, expected)
        assert loss == expected_loss


@pytest.mark.parametrize(("backend", "seeds"), [("threading", (0, 0)), ("loky", (0,))])
def test_fits_under_joblib_are_the_same_as_alone(backend, seeds, blobs):
    expected = fit(blobs[0], 0, "auto")
    results = Parallel(n_jobs=2, backend=backend)(
        delayed(fit)(blobs[0], seed, "auto") for seed in seeds
    )
    for posteriors, loss in results:
        np.testing.assert_array_equal(posteriors, expected[0])
        assert loss == expected[1]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork here")
def test_a_forked_process_after_a_fit_fits_the_same(blobs):
    X = blobs[0]
    # Threads of torch, BLAS and scikit-learn that a forked process does not have.
    MIADM(4, random_state=0, **{**QUICK, "n_threads": 2}).fit(X)
    KMeansBaseline(4, n_threads=2, random_state=0).fit(X)
    expected = fit(X, 0, "auto")
    with multiprocessing.get_context("fork").Pool(1) as pool:
        posteriors, loss = pool.apply_async(fit, (X, 0, "auto")).get(timeout=120)
        labels = pool.apply_async(KMeansBaseline(4, random_state=0).fit_predict, (X,)).get(60)
    np.testing.assert_array_equal(posteriors, expected[0])
    assert loss == expected[1]
    assert len(set(labels)) == 4
