import copy

import pytest
import torch
from torch import nn

from infomeans.networks import (
    UserNetwork,
    build_network,
    convolutional_autoencoder,
    dense_autoencoder,
    kernel_and_padding,
)
from infomeans.networks.convolutional import halved


@pytest.mark.parametrize(
    ("size", "first", "second"),
    [
        (16, (4, 0), (5, 2)),  # USPS
        (28, (4, 0), (5, 2)),  # MNIST
        (32, (4, 2), (5, 2)),  # CMU-PIE and FRGC
        (55, (5, 2), (4, 0)),  # Youtube-Face
    ],
)
def test_the_papers_sizes_get_the_papers_kernels_and_paddings(size, first, second):
    assert kernel_and_padding(size) == first
    assert kernel_and_padding(halved(size)) == second


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("size", [(8, 8), (9, 8), (11, 17), (16, 16), (28, 28), (33, 20), (55, 55)])
def test_any_image_is_given_back_in_its_size(size, channels):
    network = convolutional_autoencoder((channels, *size), 5)
    x = torch.rand(2, channels, *size) * 2 - 1
    z = network(x)
    assert z.shape == (2, 5)
    assert z.abs().max() <= 1
    assert network.decode(z).shape == x.shape


def test_the_convolutional_network_is_the_papers():
    network = convolutional_autoencoder((1, 28, 28), 10)
    first, second, dense = (block for block in network.encoder)
    assert (first[0].out_channels, second[0].out_channels) == (50, 50)
    assert (first[0].stride, second[0].stride) == ((2, 2), (2, 2))
    assert first[1].negative_slope == 0.01
    assert isinstance(dense[-1], nn.Tanh)
    assert network.dropout == (0.1, 0.1, 0.0)


def networks():
    return [(dense_autoencoder(7, 3), (7,)), (convolutional_autoencoder((1, 8, 8), 3), (1, 8, 8))]


@pytest.mark.parametrize(("network", "shape"), networks())
def test_the_noisy_pass_is_noisy_and_the_clean_one_is_not(network, shape):
    x = torch.randn(16, *shape)
    assert torch.equal(network(x), network(x))
    assert not torch.equal(network.noisy(x), network.noisy(x))
    network.dropout = (0.0,) * len(network.dropout)
    torch.testing.assert_close(network.noisy(x), network(x))


@pytest.mark.parametrize(("network", "shape"), networks())
def test_the_reconstruction_sums_the_layers_mean_squares(network, shape):
    x = torch.randn(16, *shape)
    z = network(x)
    network.hidden_weight = 0.5
    clean, back = [x], [z]
    for layer in network.encoder[:-1]:
        clean.append(layer(clean[-1]))
    for layer in reversed(network.decoder):
        back.append(layer(back[-1]))
    errors = [(a - b).square().mean() for a, b in zip(clean, back[:0:-1], strict=True)]
    expected = errors[0] + 0.5 * sum(errors[1:])
    torch.testing.assert_close(network.reconstruction(x, z), expected)


def test_detached_clean_layers_get_no_gradient():
    gradients = []
    for detach in (True, False):
        torch.manual_seed(0)
        network = dense_autoencoder(4, 2, hidden_weight=1.0, detach_clean=detach)
        x = torch.randn(8, 4)
        network.reconstruction(x, network(x).detach()).backward()
        gradients.append(network.encoder[0][0].weight.grad)
    assert gradients[0] is None
    assert gradients[1].abs().max() > 0


def test_a_module_of_the_users_own_is_copied():
    module = nn.Sequential(nn.Linear(4, 2), nn.Tanh())
    before = copy.deepcopy(module.state_dict())
    network = build_network(module, (4,), 3)
    with torch.no_grad():
        network.module[0].weight.zero_()
    torch.testing.assert_close(module.state_dict(), before)


def test_a_factory_is_asked_for_a_module():
    asked = []

    def factory(shape, n_clusters):
        asked.append((shape, n_clusters))
        return nn.Linear(shape[0], n_clusters)

    assert build_network(factory, (4,), 3)(torch.zeros(1, 4)).shape == (1, 3)
    assert asked == [((4,), 3)]


class OwnAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(4, 2), nn.Linear(2, 4)

    def encode(self, x):
        return torch.tanh(self.encoder(x))

    def decode(self, z):
        return self.decoder(z)


def test_encode_and_decode_are_used_where_there_are_any():
    network, x = UserNetwork(OwnAutoencoder()), torch.randn(5, 4)
    assert network.reconstructs
    expected = (network.decode(network(x)) - x).square().mean()
    torch.testing.assert_close(network.reconstruction(x, network.noisy(x)), expected)


def test_what_a_factory_holds_on_to_is_copied():
    module = nn.Linear(4, 2)
    assert build_network(lambda shape, k: module, (4,), 2).module is not module


@pytest.mark.parametrize(
    ("network", "error", "message"),
    [
        ("resnet", ValueError, "network='resnet' is unknown"),
        (7, TypeError, "network=7 is a int"),
        (lambda shape, k: "no module", TypeError, "returned a str"),
        (nn.Identity(), ValueError, "to a tensor of shape"),
        (nn.Linear(5, 2), ValueError, "does not accept samples of shape"),
    ],
)
def test_bad_networks_are_refused(network, error, message):
    with pytest.raises(error, match=message):
        build_network(network, (1, 8, 8), 3)


@pytest.mark.parametrize("network", [None, "residual"])
def test_what_takes_embeddings_takes_vectors_only(network):
    with pytest.raises(ValueError, match="needs embeddings, X of shape"):
        build_network(network, (1, 8, 8), 3)


def test_the_residual_network_starts_as_none_and_moves_no_feature_far():
    network, x = build_network("residual", (6,), 3), torch.randn(50, 6)
    torch.testing.assert_close(network(x), x)
    torch.testing.assert_close(network.noisy(x), x)
    nn.init.normal_(network.outer.weight, std=100)
    moved = network(x) - x
    assert moved.abs().max() <= 3 + 1e-5
    assert moved.abs().median() > 2.9
    nn.init.normal_(network.outer.weight, std=0.01)
    assert not torch.equal(network.noisy(x), network(x))
    torch.testing.assert_close(network.noisy(x, drop=False), network(x))


def test_images_must_have_eight_pixels_a_side():
    with pytest.raises(ValueError, match="7 x 9 pixels are too small"):
        convolutional_autoencoder((1, 7, 9), 3)


def test_the_clean_pass_of_a_users_module_has_no_noise():
    module = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
    network, x = UserNetwork(module), torch.randn(50, 4)
    expected = network.eval()(x)
    network.train()
    torch.testing.assert_close(network(x), expected)
    assert module.training
    assert not torch.equal(network.noisy(x), expected)
    assert module[1].num_batches_tracked == 1


def test_a_frozen_batch_norm_stays_frozen():
    frozen = nn.BatchNorm1d(4).eval()
    network = build_network(nn.Sequential(nn.Linear(4, 4), frozen, nn.BatchNorm1d(4)), (4,), 3)
    by_weights = nn.BatchNorm1d(4)
    by_weights.requires_grad_(False)
    other = build_network(nn.Sequential(by_weights), (4,), 3)
    x = 5 + torch.randn(20, 4)
    for each in (network, other):
        each.train()
        each(x)
        each.noisy(x)
    _, first, second = network.module
    assert (first.training, second.training) == (False, True)
    assert first.running_mean.abs().max() == 0 < second.running_mean.abs().max()
    assert other.module[0].running_mean.abs().max() == 0


def test_a_module_that_came_in_evaluation_mode_is_trained():
    network = build_network(nn.Sequential(nn.BatchNorm1d(4)).eval(), (4,), 3).train()
    assert network.module[0].training
