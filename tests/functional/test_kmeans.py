import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from infomeans import functional as IF

seeds = st.integers(0, 2**31)


def sample(seed, n=40, k=4, d=3):
    generator = torch.Generator().manual_seed(seed)
    z = torch.tanh(torch.randn(n, d, generator=generator, dtype=torch.float64))
    return z, z[:k].clone()


def soft_means(z, q, before):
    return IF.weighted_means(q.sum(0), q.T @ z, before)


@given(seeds)
def test_squared_distances_agree_with_scipy(seed):
    z, prototypes = sample(seed)
    expected = torch.tensor(cdist(z, prototypes) ** 2)
    torch.testing.assert_close(IF.squared_distances(z, prototypes), expected)


@given(seeds, st.sampled_from([1e-3, 1e-2, 0.1, 1.0]))
def test_updates_never_increase_the_objective(seed, temperature):
    z, prototypes = sample(seed)
    q = IF.log_softmin(z, prototypes, temperature).exp()
    value = IF.soft_kmeans_objective(z, q, prototypes, temperature)
    for _ in range(10):
        prototypes = soft_means(z, q, prototypes)
        moved = IF.soft_kmeans_objective(z, q, prototypes, temperature)
        q = IF.log_softmin(z, prototypes, temperature).exp()
        assigned = IF.soft_kmeans_objective(z, q, prototypes, temperature)
        assert assigned <= moved + 1e-10
        assert moved <= value + 1e-10
        value = assigned


@given(seeds)
def test_a_vanishing_temperature_gives_hard_kmeans(seed):
    z, prototypes = sample(seed)
    reference = KMeans(4, init=prototypes.numpy(), n_init=1, max_iter=100, tol=0).fit(z.numpy())
    for _ in range(100):
        q = IF.log_softmin(z, prototypes, 1e-9).exp()
        prototypes = soft_means(z, q, prototypes)
    np.testing.assert_array_equal(q.argmax(1).numpy(), reference.labels_)
    np.testing.assert_allclose(prototypes.numpy(), reference.cluster_centers_, atol=1e-9)


@given(seeds, st.sampled_from([1e-3, 0.05, 1.0]))
def test_the_logistic_view_squared_over_the_marginal_is_the_softmin(seed, temperature):
    z, prototypes = sample(seed)
    q_hat = torch.softmax(torch.randn(4, generator=torch.Generator().manual_seed(seed)), 0).double()
    weight, bias = IF.logistic_view(prototypes, q_hat, temperature)
    log_p = torch.log_softmax(z @ weight.T + bias, dim=1)
    torch.testing.assert_close(
        IF.weighted_targets(log_p, 2, -q_hat.log()),
        IF.log_softmin(z, prototypes, temperature).exp(),
    )


def test_without_its_norm_term_the_logistic_view_labels_many_points_otherwise():
    z, prototypes = sample(0, n=2000, k=10, d=5)
    q_hat = torch.full((10,), 0.1, dtype=torch.float64)
    weight, bias = IF.logistic_view(prototypes, q_hat, 1e-3)
    softmin = IF.log_softmin(z, prototypes, 1e-3).argmax(1)
    assert ((z @ weight.T + bias).argmax(1) == softmin).all()
    printed = (z @ weight.T + q_hat.log() / 2).argmax(1)
    assert (printed == softmin).double().mean() < 0.95


def test_a_cluster_without_mass_stays_where_it_was():
    z, prototypes = sample(1)
    q = torch.zeros(40, 4, dtype=torch.float64)
    q[:, 0] = 1
    means = soft_means(z, q, prototypes)
    torch.testing.assert_close(means[0], z.mean(0))
    torch.testing.assert_close(means[1:], prototypes[1:])


@pytest.mark.parametrize("temperature", [1e-30, 1e-6])
def test_tiny_temperatures_do_not_give_nan(temperature):
    z, prototypes = sample(2)
    assert torch.isfinite(IF.log_softmin(z, prototypes, temperature).exp()).all()
