import math

import pytest
import torch
import torch.nn.functional as F
from tests.methods.embedded import D, K, embedded, started

from infomeans import functional as IF
from infomeans.methods import METHODS
from infomeans.methods.base import Method
from infomeans.methods.batch import Batch
from infomeans.methods.state import Neighbors, SampleState
from infomeans.networks import Identity

SLUGS = list(METHODS)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_started_method_agrees_with_its_initial_clusters(slug):
    data = embedded()
    method = started(slug, data)
    agreement = (method(data.embedding).argmax(1) == data.targets.argmax(1)).float().mean()
    assert agreement > 0.95


@pytest.mark.parametrize("slug", SLUGS)
def test_posteriors_and_targets_are_distributions(slug):
    data = embedded()
    method = started(slug, data)
    method.refresh(data)
    for rows in (method(data.embedding), data.targets):
        assert rows.shape == (300, K)
        assert (rows >= 0).all()
        torch.testing.assert_close(rows.sum(1), torch.ones(300))


@pytest.mark.parametrize("slug", SLUGS)
def test_statistics_add_up_over_any_chunks(slug, monkeypatch):
    whole, parts = embedded(), embedded()
    one, other = started(slug, whole), started(slug, parts)
    one.refresh(whole)
    monkeypatch.setattr(SampleState, "chunk", 7)
    other.refresh(parts)
    torch.testing.assert_close(whole.targets, parts.targets, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(one.state_dict(), other.state_dict(), atol=1e-5, rtol=1e-4)


def test_mi_adm_targets_come_from_the_whole_data_set():
    data = embedded()
    method = started("mi-adm", data)
    p = method(data.embedding)
    method.refresh(data)
    q = p**2 / p.square().sum(0).sqrt()
    torch.testing.assert_close(data.targets, q / q.sum(1, keepdim=True))


@pytest.mark.parametrize(("slug", "power"), [("mi-adm", 2), ("depict", 1)])
def test_exact_targets_by_rounds_are_those_of_the_whole_matrix(slug, power):
    data = embedded()
    method = started(slug, data, targets="exact").double()
    data.embedding, data.targets = data.embedding.double(), data.targets.double()
    method.precision = 1e-12
    method.refresh(data)
    expected = IF.exact_targets(method.log_posteriors(data.embedding), power)
    torch.testing.assert_close(data.targets, expected, atol=1e-8, rtol=0)


@pytest.mark.parametrize(("slug", "power"), [("mi-adm", 2), ("depict", 1)])
def test_exact_targets_are_close_in_single_precision_too(slug, power):
    data = embedded()
    method = started(slug, data, targets="exact")
    method.refresh(data)
    expected = IF.exact_targets(method.log_posteriors(data.embedding).double(), power)
    torch.testing.assert_close(data.targets.double(), expected, atol=1e-3, rtol=0)


@pytest.mark.parametrize(("slug", "power"), [("mi-adm", 2), ("depict", 1)])
def test_exact_targets_heed_a_prior_from_the_first_step_on(slug, power):
    z = torch.linspace(-2, 2, 41)[:, None]
    data = SampleState(z, F.one_hot((z[:, 0] > 0).long(), 2).float())
    method = METHODS[slug].load()(2, 1, targets="exact", sizes=[0.9, 0.1])
    method.start(data)
    method.weight.data, method.bias.data = torch.tensor([[-1.0], [1.0]]), torch.zeros(2)
    method.refresh(data)
    expected = IF.exact_targets(method.log_posteriors(z), power, 1.0, method.log_prior)
    torch.testing.assert_close(data.targets, expected, atol=1e-3, rtol=0)


def test_depict_follows_the_released_formula_unless_told_otherwise():
    p = started("depict", embedded())(embedded().embedding)
    released, printed = p**2 / p.sum(0), p / p.sum(0).sqrt()
    for parameters, q in (
        ({}, released),
        ({"targets": "released"}, released),
        ({"targets": "closed"}, printed),
    ):
        data = embedded()
        started("depict", data, **parameters).refresh(data)
        torch.testing.assert_close(data.targets, q / q.sum(1, keepdim=True))


def test_dec_targets_come_from_the_whole_data_set():
    data = embedded()
    method = started("dec", data)
    p = method(data.embedding)
    student = 1 / (1 + torch.cdist(data.embedding, method.prototypes) ** 2)
    torch.testing.assert_close(p, student / student.sum(1, keepdim=True))
    method.refresh(data)
    q = p**2 / p.sum(0)
    torch.testing.assert_close(data.targets, q / q.sum(1, keepdim=True))


def test_mi_d_loss_has_the_gradient_of_the_negative_mutual_information():
    data = embedded(n=64)
    method = started("mi-d", data)
    with torch.no_grad():
        method.weight.mul_(0.1)
        method.bias.zero_()
        method.marginal = method(data.embedding).mean(dim=0)
    loss = method.loss(Batch(Identity(), data.embedding))["clustering"]
    torch.testing.assert_close(loss, -IF.mutual_information(method(data.embedding)))
    (ours,) = torch.autograd.grad(loss, method.weight)
    (true,) = torch.autograd.grad(-IF.mutual_information(method(data.embedding)), method.weight)
    torch.testing.assert_close(ours, true, atol=1e-6, rtol=1e-4)


def test_mi_d_keeps_a_running_marginal():
    data = embedded()
    method = started("mi-d", data)
    before, batch = method.marginal.clone(), torch.tensor([1.0, 0.0, 0.0, 0.0])
    method.after_step({"p": batch})
    torch.testing.assert_close(method.marginal, 0.9 * before + 0.1 * batch)


def test_dcn_centroids_follow_the_batch():
    data = embedded()
    method = started("dcn", data)
    centroids, counts = method.prototypes.clone(), method.counts.clone()
    assert counts.tolist() == [75.0] * K
    batch = Batch(Identity(), data.embedding[:40], None)
    method.after_step(method.step_statistics(batch))
    own = method.log_posteriors(data.embedding[:40]).exp()
    expected = (counts[:, None] * centroids + own.T @ data.embedding[:40]) / (counts + own.sum(0))[
        :, None
    ]
    torch.testing.assert_close(method.prototypes, expected)
    assert method.counts.sum() == 340


def test_dcn_warms_up_towards_the_initial_clusters_not_the_nearest():
    data = embedded()
    method = started("dcn", data)
    others = data.targets.roll(1, dims=1)
    batch = Batch(Identity(), data.embedding, others)
    expected = IF.squared_distances(data.embedding, method.prototypes)[others > 0].mean() / 2
    torch.testing.assert_close(method.loss(batch)["clustering"], expected)
    torch.testing.assert_close(method.step_statistics(batch)["qz"], others.T @ data.embedding)
    method.after_step(method.step_statistics(batch))
    method.warm(data)
    torch.testing.assert_close(method.prototypes, started("dcn", data).prototypes)
    assert method.counts.tolist() == [75.0] * K


def test_dec_drops_the_decoder_and_idec_keeps_it():
    class NoDecoder(Identity):
        def reconstruction(self, x, noisy):
            raise AssertionError("the decoder was asked")

    data = embedded()
    dec, idec = started("dec", data), started("dec", data, reconstruction=True)
    dec.refresh(data)
    idec.refresh(data)
    divergence = dec.loss(Batch(NoDecoder(), data.embedding, data.targets))
    torch.testing.assert_close(
        divergence["clustering"],
        IF.kl_divergence(data.targets, dec(data.embedding)),
        atol=1e-6,
        rtol=1e-4,
    )
    terms = idec.loss(Batch(Identity(), data.embedding, data.targets))
    torch.testing.assert_close(terms["clustering"], 0.1 * divergence["clustering"])
    assert "reconstruction" in terms


@pytest.mark.parametrize("far", [1.0, 30.0])
def test_a_logistic_start_is_only_so_sure(far):
    data = embedded()
    data.embedding = far * data.embedding
    method = started("mi-adm", data)
    scores = F.linear(data.embedding, method.weight, method.bias)
    first, second = scores.topk(2, dim=1).values.T
    assert (first - second).mean() <= math.log(K) / 2 + 1e-5
    assert (scores.argmax(1) == data.targets.argmax(1)).float().mean() > 0.9


def test_mi_adm_descends_the_papers_regularised_objective():
    data = embedded()
    method = started("mi-adm", data, lam=0.5)
    method.refresh(data)
    terms = method.loss(Batch(Identity(), data.embedding, data.targets))
    (slope,) = torch.autograd.grad(terms["clustering"] + terms["penalty"], method.weight)
    papers = 0.5 * method.weight.square().sum() - IF.adm_objective(
        data.targets, method(data.embedding)
    )
    (expected,) = torch.autograd.grad(papers, method.weight)
    torch.testing.assert_close(2 * slope, expected)


@pytest.mark.parametrize("slug", SLUGS)
def test_an_empty_cluster_takes_a_part_of_the_largest(slug):
    data = embedded()
    labels = data.targets.argmax(1)
    labels[labels == 3] = 2
    data.targets = F.one_hot(labels, K).float()
    method = started(slug, data)
    if slug in ("dec", "dcn", "sr-kmeans"):
        with torch.no_grad():
            method.prototypes[3] = 100.0
    before = torch.bincount(method(data.embedding).argmax(1), minlength=K)
    assert before[3] == 0
    with torch.no_grad():
        if slug in ("mi-adm", "mi-pairs", "depict", "mi-d"):
            method.bias[3] = -1e4
    assert method.refill(data) == 1
    after = torch.bincount(method(data.embedding).argmax(1), minlength=K)
    assert after[3] > 30
    assert after[2] > 30
    torch.testing.assert_close(after[:2], before[:2], atol=10, rtol=0)
    method.refresh(data)
    assert torch.bincount(method(data.embedding).argmax(1), minlength=K)[3] > 30


def emptied(slug, z, labels, empty=3):
    """A method with these clusters, of which one is empty, and their sizes."""
    data = SampleState(z, F.one_hot(labels, K).float())
    method = started(slug, data)
    with torch.no_grad():
        if slug in ("mi-adm", "mi-pairs", "depict", "mi-d"):
            method.bias[empty] = -1e4
        else:
            method.prototypes[empty] = 100.0
    return method, data, method.sizes(data)


def two_small_and_a_large_cluster(generator):
    labels = torch.tensor([0, 1, 2, 2, 2, 2] * 500)
    z = 0.05 * torch.randn(len(labels), D, generator=generator)
    z[:, 0] += torch.tensor([-4.0, 4.0, 0.0])[labels]
    return z, labels


@pytest.mark.parametrize("slug", SLUGS)
def test_an_empty_cluster_takes_a_group_of_its_own_rather_than_a_part_of_each(slug):
    generator = torch.Generator().manual_seed(0)
    z, labels = two_small_and_a_large_cluster(generator)
    # Two groups in the large one, longer than they lie apart.
    group = torch.arange(len(z)) % 2
    z[:, 1] += 2 * torch.rand(len(z), generator=generator)
    z[:, 2] += 0.5 * group
    method, data, _ = emptied(slug, z, labels)
    assert method.refill(data) == 1
    shared = method(z).argmax(1)[labels == 2]
    assert {*shared.tolist()} == {2, 3}
    right = ((shared == 3) == (group[labels == 2] == 1)).float().mean()
    assert max(right, 1 - right) > 0.95


@pytest.mark.parametrize("slug", SLUGS)
def test_what_is_one_group_is_halved_and_no_other_cluster_pays_for_it(slug):
    generator = torch.Generator().manual_seed(2)
    z, labels = two_small_and_a_large_cluster(generator)
    z[labels == 2] += 0.3 * torch.randn(2000, D, generator=generator)
    method, data, before = emptied(slug, z, labels)
    assert method.refill(data) == 1
    after = method.sizes(data)
    assert after[2:].min() > 0.3 * before[2]
    torch.testing.assert_close(after[:2], before[:2], atol=10, rtol=0)


@pytest.mark.parametrize("slug", ["mi-adm", "depict", "mi-d"])
def test_parts_with_one_centre_are_told_apart_with_no_harm_to_others(slug):
    generator = torch.Generator().manual_seed(0)
    z, labels = two_small_and_a_large_cluster(generator)
    # A core inside a ring: their means are as good as the same.
    ring, angle = (
        torch.arange(len(z)) % 2 == 0,
        2 * math.pi * torch.rand(len(z), generator=generator),
    )
    z[ring, 1:3] += torch.stack([angle.cos(), angle.sin()], dim=1)[ring]
    method, data, before = emptied(slug, z, labels)
    assert method.refill(data) == 1
    after = method.sizes(data)
    assert after[2:].min() > 500
    torch.testing.assert_close(after[:2], before[:2], atol=10, rtol=0)


def test_the_counts_of_dcn_go_with_the_members():
    method = METHODS["dcn"].load()(K, D)
    method.counts = torch.full((K,), 1000.0)
    method.split(None, 2, 3, torch.zeros(900, D), torch.ones(100, D))
    torch.testing.assert_close(method.counts, torch.tensor([1000.0, 1000.0, 900.0, 100.0]))
    torch.testing.assert_close(method.prototypes[2:], torch.tensor([[0.0], [1.0]]).expand(-1, D))


@pytest.mark.parametrize("slug", SLUGS)
def test_copies_of_one_sample_cannot_be_shared(slug):
    data = embedded()
    data.embedding[:] = 0.5
    method = started(slug, data)
    assert method.refill(data) == 0
    assert torch.isfinite(method(data.embedding)).all()


@pytest.mark.parametrize("slug", SLUGS)
def test_a_cluster_of_copies_is_passed_over(slug):
    z, labels = two_small_and_a_large_cluster(torch.Generator().manual_seed(0))
    z[labels == 2] = 0.0
    method, data, before = emptied(slug, z, labels + 1, empty=0)
    largest = before.argmax()
    assert method.refill(data) == 1
    assert method.sizes(data)[largest] == before[largest]


def test_a_method_must_have_posteriors_and_a_loss():
    with pytest.raises(TypeError, match="abstract"):
        Method(2, 2)


def test_priors_go_to_the_initial_clusters_by_size():
    data = embedded()
    labels = data.targets.argmax(1)
    labels[:60][labels[:60] == 1] = 2
    data.targets = F.one_hot(labels, K).float()
    method = started("mi-adm", data, sizes=[0.1, 0.5, 0.2, 0.2])
    shares = method.log_prior.exp()
    assert shares[2] == pytest.approx(0.5)
    assert shares[1] == pytest.approx(0.1)
    assert math.isclose(shares.sum(), 1, rel_tol=1e-6)


def test_a_refilled_prototype_is_not_drawn_back_by_the_targets_it_had():
    data = embedded()
    method = started("sr-kmeans", data)
    with torch.no_grad():
        method.prototypes[3] = 100.0
    data.targets = torch.full_like(data.targets, 0.25)
    assert method.refill(data) == 1
    refilled = torch.bincount(method(data.embedding).argmax(1), minlength=K)
    method.refresh(data)
    torch.testing.assert_close(
        torch.bincount(method(data.embedding).argmax(1), minlength=K), refilled, atol=30, rtol=0
    )


@pytest.mark.parametrize("slug", ["mi-adm", "depict", "mi-d"])
def test_a_start_does_not_mind_where_the_embedding_lies(slug):
    data = embedded()
    data.embedding = data.embedding + 1000
    method = started(slug, data)
    assert (method(data.embedding).argmax(1) == data.targets.argmax(1)).float().mean() > 0.95


@pytest.mark.parametrize("chunk", [7, 8192])
def test_neighbours_vote_with_their_mean_posteriors(chunk, monkeypatch):
    monkeypatch.setattr(SampleState, "chunk", chunk)
    data, generator = embedded(), torch.Generator().manual_seed(0)
    p = torch.rand(300, K, generator=generator).softmax(dim=1)
    ids = torch.randint(300, (300, 6), generator=generator)
    weights = torch.rand(300, 6, generator=generator).softmax(dim=1)
    data.neighbors = Neighbors(ids, weights)
    parts = iter(p.split(chunk))
    graph = torch.zeros(300, 300).scatter_add_(1, ids, weights)
    votes = data.votes(lambda z: next(parts), doubt=0.01)
    torch.testing.assert_close(votes, 0.99 * graph @ p + 0.01 / K)
