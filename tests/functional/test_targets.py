import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.strategies import pairs_of_rows, rows

from infomeans import functional as IF


def normalised(q):
    return q / q.sum(dim=1, keepdim=True)


@given(rows())
def test_closed_forms_are_the_printed_formulas(p):
    log_p = p.log()
    mi_adm = IF.weighted_targets(log_p, 2, IF.mi_adm_weight(p.square().sum(0).log()))
    depict = IF.weighted_targets(log_p, 1, IF.depict_weight(p.sum(0).log()))
    dec = IF.weighted_targets(log_p, 2, IF.dec_weight(p.sum(0).log()))
    torch.testing.assert_close(mi_adm, normalised(p**2 / p.square().sum(0).sqrt()))
    torch.testing.assert_close(depict, normalised(p / p.sum(0).sqrt()))
    torch.testing.assert_close(dec, normalised(p**2 / p.sum(0)))


@given(rows(), st.floats(0.0, 3.0))
def test_depict_with_gamma_uses_the_power_gamma_over_one_plus_gamma(p, gamma):
    q = IF.weighted_targets(p.log(), 1, IF.depict_weight(p.sum(0).log(), gamma))
    torch.testing.assert_close(q, normalised(p / p.sum(0) ** (gamma / (1 + gamma))))


@given(rows())
def test_exact_mi_adm_targets_are_a_fixed_point(p):
    q = IF.exact_targets(p.log(), 2)
    torch.testing.assert_close(q, normalised(p**2 / q.mean(0)), atol=1e-10, rtol=0)


@given(rows(), st.sampled_from([0.25, 0.5, 1.0, 2.0]))
def test_exact_depict_targets_are_a_fixed_point(p, gamma):
    q = IF.exact_targets(p.log(), 1, gamma)
    torch.testing.assert_close(q, normalised(p / q.mean(0) ** gamma), atol=1e-10, rtol=0)


def voting_objective(q, alone, votes, say):
    return IF.kl_divergence(q, alone) + say * IF.cross_entropy(q, votes.log())


@given(pairs_of_rows(), st.floats(0.0, 3.0))
def test_voted_targets_weigh_what_a_sample_says_against_its_neighbours(both, say):
    alone, votes = both
    q = IF.voted_targets(alone, votes, say)
    least = voting_objective(q, alone, votes, say)
    torch.testing.assert_close(q.sum(dim=1), torch.ones(len(q), dtype=q.dtype))
    for other in (alone, votes, normalised(alone + votes), normalised(q + 0.01)):
        assert voting_objective(other, alone, votes, say) >= least - 1e-12


def test_a_sure_sample_keeps_its_cluster_and_one_in_doubt_goes_with_its_neighbours():
    alone = torch.tensor([[0.9999, 0.0001, 0.0], [0.5, 0.4, 0.1]])
    against = torch.tensor([[0.005, 0.99, 0.005]] * 2)
    assert IF.voted_targets(alone, against, 0.5).argmax(dim=1).tolist() == [0, 1]


def random_rows(n, k, seed):
    generator = torch.Generator().manual_seed(seed)
    return (3 * torch.randn(n, k, generator=generator, dtype=torch.float64)).softmax(dim=1)


@pytest.mark.parametrize("sharpness", [0.05, 0.4, 1.0])
@pytest.mark.parametrize(("told", "weight"), [(0.0, 0.0), (0.3, 0.3), (0.9, 0.9), (1.5, 1.0)])
def test_the_weight_of_votes_is_how_much_they_tell_of_another_view(told, weight, sharpness):
    q, votes, uneven = random_rows(400, 5, 0), random_rows(400, 5, 1), random_rows(1, 5, 2)
    seen = torch.softmax(sharpness * (q.log() + told * votes.log()) + uneven.log(), dim=1)
    assert IF.vote_weight(q, votes, seen) == pytest.approx(weight, abs=1e-3)


def test_votes_that_tell_nothing_or_the_contrary_have_no_weight():
    q, votes = random_rows(400, 5, 0), random_rows(400, 5, 1)
    contrary = torch.softmax(0.3 * q.log() - 0.5 * votes.log(), dim=1)
    assert IF.vote_weight(q, votes, contrary) == 0


def test_votes_that_undo_the_balance_of_the_targets_have_no_weight():
    shares = torch.tensor([0.4, 0.3, 0.15, 0.1, 0.05], dtype=torch.float64)
    p = normalised(random_rows(400, 5, 0) * shares)
    q = IF.weighted_targets(p.log(), 2, IF.mi_adm_weight(p.square().sum(0).log()))
    assert IF.vote_weight(q, p.mean(0).expand(400, -1), p) == pytest.approx(0, abs=1e-3)


def test_neighbours_that_tell_all_weigh_as_much_as_the_sample():
    q, votes = random_rows(400, 5, 0), random_rows(400, 5, 1)
    assert IF.vote_weight(q, votes, votes) == pytest.approx(1)


def test_hard_targets_that_views_contradict_leave_their_share_to_the_neighbours():
    labels, shown = torch.arange(600) % 3, torch.arange(600) // 2 % 3
    q, votes = (torch.nn.functional.one_hot(of, 3).float() for of in (labels, shown))
    votes = torch.lerp(votes, torch.full_like(votes, 1 / 3), 0.01)
    # A third of the views shows what the target says, two thirds what the neighbours say.
    seen = torch.nn.functional.one_hot(torch.where(torch.arange(600) % 9 < 3, labels, shown), 3)
    assert IF.vote_weight(q, votes, seen.float()) > 0.9
    assert IF.voted_targets(q, votes, 1.0).equal(q)


def numerical_minimum(objective, p):
    """The least value over row-stochastic Q, by quasi-Newton steps on its logits."""
    n, k = p.shape

    def value_and_gradient(flat):
        logits = torch.tensor(flat.reshape(n, k), requires_grad=True)
        value = objective(torch.softmax(logits, dim=1), p)
        value.backward()
        return value.item(), logits.grad.numpy().ravel()

    result = minimize(
        value_and_gradient, p.log().numpy().ravel(), jac=True, method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10000, "ftol": 1e-15, "gtol": 1e-10},
    )  # fmt: skip
    return result.fun


@settings(max_examples=20)
@given(rows(max_n=12, max_k=5))
def test_exact_mi_adm_targets_reach_the_numerical_minimum(p):
    exact = IF.mi_adm_objective(IF.exact_targets(p.log(), 2), p).item()
    assert exact <= numerical_minimum(IF.mi_adm_objective, p) + 1e-9


@settings(max_examples=20)
@given(rows(max_n=12, max_k=5), st.sampled_from([0.5, 1.0, 2.0]))
def test_exact_depict_targets_reach_the_numerical_minimum(p, gamma):
    def objective(q, p):
        return IF.depict_objective(q, p, gamma)

    exact = objective(IF.exact_targets(p.log(), 1, gamma), p).item()
    assert exact <= numerical_minimum(objective, p) + 1e-9


@given(rows())
def test_closed_form_is_never_better_than_the_exact_one(p):
    closed = IF.weighted_targets(p.log(), 2, IF.mi_adm_weight(p.square().sum(0).log()))
    exact = IF.exact_targets(p.log(), 2)
    assert IF.mi_adm_objective(exact, p) <= IF.mi_adm_objective(closed, p) + 1e-12


@pytest.mark.parametrize("sharpness", [0.5, 2.0, 5.0])
def test_how_far_the_closed_forms_are_from_the_exact_targets(sharpness, record_property):
    # Recorded, not promised: the mean total variation between the rows of both.
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(200, 10, generator=generator, dtype=torch.float64)
    log_p = torch.log_softmax(sharpness * noise, dim=1)
    sums = {2: (2 * log_p).exp().sum(0).log(), 1: log_p.exp().sum(0).log()}
    for power, weight in ((2, IF.mi_adm_weight), (1, IF.depict_weight)):
        closed = IF.weighted_targets(log_p, power, weight(sums[power]))
        distance = (closed - IF.exact_targets(log_p, power)).abs().sum(1).mean().item() / 2
        record_property(f"distance at power {power}", distance)
        assert 0 < distance < 0.5


@given(rows(min_n=20))
def test_a_prior_pulls_the_exact_marginal_towards_it(p):
    prior = torch.arange(1, p.shape[1] + 1, dtype=p.dtype)
    prior /= prior.sum()
    with_prior = IF.exact_targets(p.log(), 2, log_prior=prior.log()).mean(0)
    without = IF.exact_targets(p.log(), 2).mean(0)

    def divergence(q):
        return (q * (q / prior).log()).sum()

    assert divergence(with_prior) <= divergence(without) + 1e-9


def test_a_uniform_prior_changes_nothing():
    p = torch.softmax(torch.randn(9, 4, dtype=torch.float64), dim=1)
    uniform = torch.full((4,), 0.25, dtype=torch.float64).log()
    for weight in (IF.mi_adm_weight, IF.dec_weight):
        log_s = p.square().sum(0).log()
        torch.testing.assert_close(
            IF.weighted_targets(p.log(), 2, weight(log_s, uniform)),
            IF.weighted_targets(p.log(), 2, weight(log_s)),
        )


def test_decs_formula_is_the_first_step_of_mi_adms_exact_update():
    p = torch.softmax(2 * torch.randn(50, 5, dtype=torch.float64), dim=1)
    first = IF.weighted_targets(p.log(), 2, IF.exact_weight(p.mean(0).log()))
    torch.testing.assert_close(first, normalised(p**2 / p.sum(0)))


HARD = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], dtype=torch.float64)


@pytest.mark.parametrize("power", [1, 2])
def test_posteriors_of_zero_do_no_harm(power):
    torch.testing.assert_close(IF.exact_targets(HARD.log(), power), HARD)


@pytest.mark.parametrize("weight", [IF.mi_adm_weight, IF.depict_weight, IF.dec_weight])
def test_a_cluster_without_mass_does_no_harm(weight):
    log_weight = weight(HARD.sum(0).log())
    torch.testing.assert_close(IF.weighted_targets(HARD.log(), 2, log_weight), HARD)
