"""Cluster with a network of your own: a torch module with an encoder and perhaps a decoder."""

from sklearn.datasets import load_digits
from torch import Tensor, nn

from infomeans import MIADM
from infomeans.metrics import scores


class ConvAutoencoder(nn.Module):
    """Images of 8 x 8 pixels to 16 numbers and back.

    With `encode` and `decode` it is pretrained as an auto-encoder. A module with a plain
    `forward(x)` that returns an embedding works as well, without pretraining.
    """

    def __init__(self, channels: int = 16, n_features: int = 16) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, channels, kernel_size=3, stride=2, padding=1),
            nn.ReLU(),
            nn.Dropout(0.1),  # methods train on a noisy pass: the noise is the module's own dropout
            nn.Flatten(),
            nn.Linear(channels * 4 * 4, n_features),
        )
        self.decoder = nn.Sequential(
            nn.Linear(n_features, channels * 4 * 4),
            nn.Unflatten(1, (channels, 4, 4)),
            nn.ReLU(),
            nn.ConvTranspose2d(channels, 1, kernel_size=4, stride=2, padding=1),
        )

    def encode(self, x: Tensor) -> Tensor:
        """Images (n, 1, 8, 8) to embeddings (n, n_features)."""
        return self.encoder(x)

    def decode(self, z: Tensor) -> Tensor:
        """Embeddings back to images."""
        return self.decoder(z)


digits = load_digits(n_class=3)
# The module is copied, so `network` below keeps its untrained weights.
network = ConvAutoencoder()
model = MIADM(n_clusters=3, network=network, pretrain_epochs=10, epochs=5, random_state=0)
model.fit(digits.images)

print(scores(digits.target, model.labels_))
print("embedding:", model.transform(digits.images).shape)
