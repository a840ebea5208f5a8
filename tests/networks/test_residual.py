"""The network for embeddings of another model."""

import numpy as np
import torch

from infomeans import MIPairs, load
from infomeans.networks import build_network
from infomeans.networks.build import COMPONENTS


def test_long_embeddings_are_projected_to_their_principal_components():
    torch.manual_seed(0)
    x = torch.randn(300, 100) * torch.linspace(3, 0.1, 100)
    network = build_network("residual", (100,), 5)
    network.start(network.scatter(x.split(120)))
    z = network(x - x.mean(dim=0)).detach()
    assert z.shape == (300, COMPONENTS)
    covariance = torch.cov(z.T)
    torch.testing.assert_close(covariance.diagonal().mean(), torch.tensor(1.0), atol=0.1, rtol=0)
    assert (covariance - covariance.diagonal().diag()).abs().max() < 0.2
    # Nearly all of the variance is in what is kept.
    kept = (z.var(dim=0).sum() / covariance.diagonal().mean()).item()
    assert kept > 0.99 * COMPONENTS


def test_short_embeddings_start_unchanged():
    x = torch.randn(20, 8)
    network = build_network("residual", (8,), 5)
    assert not network.projects
    torch.testing.assert_close(network(x), x)


def test_a_projecting_model_is_saved_and_loaded(tmp_path):
    X = np.random.default_rng(0).normal(size=(90, 80)) + 5 * np.eye(80)[np.arange(90) % 3]
    model = MIPairs(3, network="residual", warmup_epochs=3, epochs=2, random_state=0).fit(X)
    model.save(tmp_path / "model")
    np.testing.assert_allclose(
        load(tmp_path / "model").predict_proba(X), model.predict_proba(X), atol=1e-6
    )
    assert model.transform(X).shape == (90, COMPONENTS)
