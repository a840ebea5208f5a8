"""MI-Pairs: the mutual information between the clusters of neighbours."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.datasets import make_blobs

from infomeans import MIPairs
from infomeans.graph import neighbor_graph, neighbor_information
from infomeans.methods.batch import Batch
from infomeans.methods.mi_pairs import MIPairsMethod
from infomeans.methods.state import Neighbors, SampleState
from infomeans.networks import Identity

K = 3


def state(n=90):
    X, y = make_blobs(n, centers=K, n_features=4, random_state=0)
    graph = neighbor_graph(X, 6)
    z = torch.tensor(X, dtype=torch.float32)
    targets = F.one_hot(torch.tensor(y), K).float()
    return SampleState(z, targets, initial=torch.tensor(y), neighbors=Neighbors.of_graph(graph))


def information(joint):
    marginal = joint.sum(dim=1)
    return torch.xlogy(joint, joint / marginal[:, None] / marginal).sum()


def test_the_joint_of_hard_posteriors_gives_the_information_that_chooses_the_start():
    data = state()
    method = MIPairsMethod(K, 4)
    method.start(data)
    method.weight.data *= 1e3
    method.bias.data *= 1e3
    method.warm(data)
    graph = neighbor_graph(data.embedding.numpy().astype(float), 6)
    symmetric = (graph + graph.T) / 2
    expected = neighbor_information(symmetric.tocsr(), method(data.embedding).argmax(1).numpy())
    assert information(method.joint).item() == pytest.approx(expected, abs=1e-4)


def test_the_loss_has_the_gradient_of_the_information():
    torch.manual_seed(0)
    z, other = torch.randn(40, 4), torch.randn(40, 4)
    method = MIPairsMethod(K, 4)
    method.weight.data, method.bias.data = torch.randn(K, 4), torch.randn(K)

    def joint():
        p, q = method(z), method(other)
        return (p.T @ q + q.T @ p) / (2 * len(z))

    information(joint()).backward()
    expected = method.weight.grad.clone()
    method.weight.grad = None
    method.joint = joint().detach()
    method.window.fill_(1e12)
    batch = Batch(Identity(), z, neighbors=other)
    method.loss(batch)["clustering"].backward()
    torch.testing.assert_close(-method.weight.grad, expected, atol=1e-5, rtol=1e-4)


def test_the_running_joint_moves_towards_the_batch_by_its_share_of_the_window():
    method = MIPairsMethod(2, 1)
    method.window.fill_(40.0)
    method.after_step({"joint": 10 * torch.tensor([[0.0, 1.0], [0.0, 0.0]]), "n": torch.tensor(10)})
    expected = 0.75 * torch.eye(2) / 2 + 0.25 * torch.tensor([[0.0, 0.5], [0.5, 0.0]])
    torch.testing.assert_close(method.joint, expected)


def test_training_raises_the_information_between_neighbours():
    X, _ = make_blobs(600, centers=4, n_features=10, cluster_std=3.5, random_state=0)
    model = MIPairs(4, network="residual", init="kmeans", random_state=0).fit(X)
    graph = neighbor_graph(X, 12)
    before = neighbor_information(graph, model.initial_labels_)
    assert neighbor_information(graph, model.labels_) > before
    assert len(np.unique(model.labels_)) == 4
