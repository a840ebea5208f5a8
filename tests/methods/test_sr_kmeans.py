from itertools import pairwise

import torch
from sklearn.metrics import adjusted_rand_score
from tests.methods.embedded import K, embedded, started

from infomeans import SRKMeans
from infomeans import functional as IF
from infomeans.methods.batch import Batch
from infomeans.networks import Identity


def sr_kmeans_loss(method, z, q, tau):
    method.tau = torch.tensor(tau)
    return method.loss(Batch(Identity(), z, q))["clustering"]


def test_sr_kmeans_loss_tends_to_the_papers_with_the_origin_at_the_prototypes():
    data = embedded()
    method = started("sr-kmeans", data, lam=0.01)
    z, q = data.embedding.double().requires_grad_(), data.targets.double()
    method = method.double()
    centre = method.prototypes.mean(dim=0)
    spread = (q * IF.squared_distances(z, method.prototypes)).sum(1)
    papers = (spread - (z - centre).square().sum(1)).mean() / (0.01 * K)
    ours = sr_kmeans_loss(method, z, q, 1e7)
    slopes = [torch.autograd.grad(loss, z, retain_graph=True)[0] for loss in (ours, papers)]
    torch.testing.assert_close(*slopes, atol=1e-4, rtol=1e-4)


def test_sr_kmeans_loss_has_no_origin_and_a_lower_bound():
    data = embedded()
    method = started("sr-kmeans", data, lam=0.01)
    before = method.loss(Batch(Identity(), data.embedding, data.targets))["clustering"]
    assert before >= 0
    with torch.no_grad():
        method.prototypes += 5.0
    moved = method.loss(Batch(Identity(), data.embedding + 5.0, data.targets))["clustering"]
    torch.testing.assert_close(moved, before, rtol=1e-3, atol=1e-4)


def test_sr_kmeans_measures_its_distances_at_the_start():
    data = embedded()
    method = started("sr-kmeans", data)
    own = (data.targets * IF.squared_distances(data.embedding, method.prototypes)).sum(1)
    torch.testing.assert_close(method.tau, own.mean())


def test_sr_kmeans_rounds_never_increase_its_objective():
    data = embedded()
    method = started("sr-kmeans", data, lam=0.02)
    method.refresh(data)
    values = []
    for _ in range(10):
        values.append(
            IF.soft_kmeans_objective(
                data.embedding, data.targets, method.prototypes, method.temperature
            )
        )
        method.refresh(data)
    assert all(b <= a + 1e-3 for a, b in pairwise(values))


def test_sr_kmeans_keeps_its_clusters_in_an_unbounded_embedding(blobs):
    X, classes = blobs
    model = SRKMeans(4, network=torch.nn.Linear(6, 4), epochs=30, random_state=0).fit(X)
    assert adjusted_rand_score(classes, model.labels_) == 1
