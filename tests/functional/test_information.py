import math

import numpy as np
import torch
from hypothesis import given
from scipy.stats import entropy as scipy_entropy
from tests.strategies import pairs_of_rows, rows

from infomeans import functional as IF


@given(rows())
def test_entropies_agree_with_scipy(p):
    assert math.isclose(IF.label_entropy(p), scipy_entropy(p.mean(0)), abs_tol=1e-12)
    assert math.isclose(IF.conditional_entropy(p), scipy_entropy(p, axis=1).mean(), abs_tol=1e-12)


@given(pairs_of_rows())
def test_kl_divergence_agrees_with_scipy(pair):
    p, q = pair
    expected = scipy_entropy(q.numpy(), p.numpy(), axis=1).mean()
    assert math.isclose(IF.kl_divergence(q, p), expected, abs_tol=1e-12)


@given(rows())
def test_mutual_information_lies_between_zero_and_the_label_entropy(p):
    mi = IF.mutual_information(p)
    assert -1e-12 <= mi <= IF.label_entropy(p) + 1e-12
    assert IF.label_entropy(p) <= math.log(p.shape[1]) + 1e-12


def test_hard_balanced_labels_carry_log_k_nats():
    assert math.isclose(IF.mutual_information(torch.eye(7)), math.log(7), rel_tol=1e-6)


def test_constant_posteriors_carry_nothing():
    p = torch.tensor([[0.2, 0.8]]).expand(10, 2)
    assert abs(IF.mutual_information(p)) < 1e-6


@given(rows())
def test_label_entropy_is_log_k_minus_the_divergence_from_uniform(p):
    # The paper's footnote has this sign wrong.
    k = p.shape[1]
    divergence = scipy_entropy(p.mean(0).numpy(), np.full(k, 1 / k))
    assert math.isclose(IF.label_entropy(p), math.log(k) - divergence, abs_tol=1e-12)


@given(pairs_of_rows())
def test_cross_entropy_is_the_divergence_plus_the_entropy_of_the_targets(pair):
    p, q = pair
    expected = IF.kl_divergence(q, p) + IF.conditional_entropy(q)
    assert torch.isclose(IF.cross_entropy(q, p.log()), expected, atol=1e-12)


def test_zero_probabilities_do_not_give_nan():
    p = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert torch.isfinite(IF.mutual_information(p))
    assert IF.kl_divergence(p, p) == 0
    assert IF.cross_entropy(p, p.log()) == 0
