import torch

from infomeans.networks import convolutional_autoencoder, dense_autoencoder
from infomeans.networks.autoencoder import Offset


def images():
    """Bright strokes on a common dark background, like most scans."""
    generator = torch.Generator().manual_seed(0)
    x = torch.full((64, 1, 12, 12), -1.0)
    x[:, :, 3:9, 3:9] += 2 * torch.rand(64, 1, 6, 6, generator=generator)
    return x


def test_the_decoder_starts_at_the_mean_image():
    x = images()
    network = convolutional_autoencoder((1, 12, 12), 4)
    network.start(x.mean(dim=0))
    with torch.no_grad():
        for parameter in network.decoder[0][0].parameters():
            parameter.zero_()
    mean = x.mean(0).clamp(-0.99, 0.99)
    torch.testing.assert_close(network.decode(torch.zeros(1, 4))[0], mean)


def test_the_papers_start_and_vectors_have_no_such_offset():
    network = convolutional_autoencoder((1, 12, 12), 4, glorot=True)
    assert not any(isinstance(module, Offset) for module in network.modules())
    network.start(images().mean(dim=0))
    dense_autoencoder(3, 2).start(torch.randn(3))


def test_the_offset_keeps_the_embedding_out_of_saturation():
    torch.manual_seed(0)
    x = images()
    network = convolutional_autoencoder((1, 12, 12), 4)
    network.start(x.mean(dim=0))
    optimizer = torch.optim.Adam(network.parameters(), 5e-3)
    for _ in range(60):
        optimizer.zero_grad()
        network.reconstruction(x, network.noisy(x)).backward()
        optimizer.step()
    assert (network(x).abs() > 0.95).float().mean() < 0.3
