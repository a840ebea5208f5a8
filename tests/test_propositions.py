"""The paper's propositions, as they really hold."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from infomeans import functional as IF
from infomeans.benchmark import link
from tests.strategies import pairs_of_rows, rows

seeds = st.integers(0, 2**31)


@given(pairs_of_rows())
def test_proposition_1_the_two_forms_of_the_objective_agree(pair):
    # Eq. objective.MI-ADM-KL is maximised and Eq. objective.MI-ADM-KL-2 is half of it, minimised.
    p, q = pair
    assert math.isclose(IF.mi_adm_objective(q, p), -IF.adm_objective(q, p) / 2, abs_tol=1e-12)


@given(rows())
def test_proposition_1_with_targets_equal_to_posteriors_it_is_the_mutual_information(p):
    assert math.isclose(IF.adm_objective(p, p), IF.mutual_information(p), abs_tol=1e-12)


def balanced_targets(n, k, generator):
    """Soft targets whose marginal is uniform: a random row and all its rotations."""
    row = torch.softmax(2 * torch.randn(n // k, k, generator=generator, dtype=torch.float64), 1)
    return torch.cat([row.roll(shift, 1) for shift in range(k)])


LAM, K = 0.05, 4


def point(seed, n=40, d=3):
    """An embedding, weights of scores, and balanced targets."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(n, d, generator=generator, dtype=torch.float64)
    theta = torch.randn(K, d, generator=generator, dtype=torch.float64)
    return z, theta, balanced_targets(n, K, generator)


def proposition_2(z, theta, q):
    """Both sides of Proposition 2, with raw scores and with normalised posteriors."""
    bias = q.mean(0).log() / 2
    scores = z @ theta.T + bias
    entropies = -IF.label_entropy(q) - IF.conditional_entropy(q)
    penalty = LAM * theta.square().sum()

    def regularised(log_p):
        return entropies - 2 * (q * log_p).sum(1).mean() + penalty

    kmeans = IF.soft_kmeans_objective(z, q, LAM * K * theta, LAM * K) / (len(z) * LAM * K)
    gap = 2 * torch.logsumexp(scores, 1).mean()
    return regularised(scores), regularised(torch.log_softmax(scores, 1)), kmeans, gap


@given(seeds)
def test_proposition_2_regularised_mutual_information_is_soft_kmeans(seed):
    raw, _, kmeans, _ = proposition_2(*point(seed))
    assert math.isclose(raw, kmeans, rel_tol=1e-9, abs_tol=1e-9)


@given(seeds)
def test_proposition_2_normalised_posteriors_add_the_log_normalisers(seed):
    _, normalised, kmeans, gap = proposition_2(*point(seed))
    assert math.isclose(normalised, kmeans + gap, rel_tol=1e-9, abs_tol=1e-9)


@given(seeds)
def test_proposition_2_is_measured_as_it_holds(seed):
    z, theta, q = point(seed)
    _, normalised, kmeans, gap = proposition_2(z, theta, q)
    measured = link.proposition_2(z, q, LAM * K * theta, LAM)
    assert math.isclose(measured.information, normalised, rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(measured.kmeans, kmeans, rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(measured.gap, gap, rel_tol=1e-9, abs_tol=1e-9)


@given(seeds)
def test_proposition_2_leaves_out_how_unequal_the_clusters_are(seed):
    z, theta, _ = point(seed)
    q = torch.softmax(z @ theta.T + torch.arange(K), 1)
    q[:, 0] = 0
    q /= q.sum(1, keepdim=True)
    prototypes = LAM * K * theta
    sides = link.proposition_2(z, q, prototypes, LAM)
    unequal = (1 / K - q.mean(0)) @ prototypes.square().sum(1) / (LAM * K)
    rest = sides.information - sides.kmeans - sides.gap
    assert math.isclose(rest, unequal, rel_tol=1e-6, abs_tol=1e-6)


@given(rows(sharpness=5.0))
def test_proposition_3_mutual_information_does_not_decrease(p):
    for _ in range(5):
        before = IF.mutual_information(p)
        p = IF.exact_targets(p.log(), 2)
        assert IF.mutual_information(p) >= before - 1e-10


def test_proposition_3_does_not_hold_for_depicts_printed_targets():
    generator = torch.Generator().manual_seed(0)
    falls = 0
    for _ in range(300):
        logits = 2 * torch.randn(20, 5, generator=generator, dtype=torch.float64)
        p = torch.softmax(logits, 1)
        q = IF.weighted_targets(p.log(), 1, IF.depict_weight(p.sum(0).log()))
        falls += bool(IF.mutual_information(q) < IF.mutual_information(p) - 1e-9)
    assert falls > 30


@pytest.mark.parametrize("sharpness", [0.5, 3.0])
def test_proposition_3_the_closed_form_comes_close(sharpness):
    # One-step approximations may lose a little; this is how little.
    generator = torch.Generator().manual_seed(1)
    worst = 0.0
    for _ in range(500):
        logits = sharpness * torch.randn(30, 4, generator=generator, dtype=torch.float64)
        p = torch.softmax(logits, 1)
        q = IF.weighted_targets(p.log(), 2, IF.mi_adm_weight(p.square().sum(0).log()))
        worst = max(worst, (IF.mutual_information(p) - IF.mutual_information(q)).item())
    assert worst < 1e-3


@given(pairs_of_rows(sharpness=6.0))
def test_pinskers_inequality(pair):
    p, q = pair
    assert (q - p).square().sum() <= 2 * len(p) * IF.kl_divergence(q, p) + 1e-12
