"""The trained parts as one: from scaled samples to their embedding and their posteriors."""

from torch import Tensor, nn

from infomeans.training import affine, fixed_changes


class Assignment(nn.Module):
    """Embeds samples, and gives them to clusters.

    Parameters
    ----------
    network, method : nn.Module
    views : bool
        Whether posteriors are the mean over views of an image, for one whose small changes leave
        it what it is: the same few for every image, so that no sample depends on another.
    """

    changes: Tensor

    def __init__(self, network: nn.Module, method: nn.Module, *, views: bool = False) -> None:
        super().__init__()
        self.network = network
        self.method = method
        changes = fixed_changes()
        self.register_buffer("changes", changes if views else changes[:0])

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The clean embedding (n, d) and the posteriors (n, K)."""
        z = self.network(x)
        seen = [self.method(z)]
        seen += [self.method(self.network(affine(x, c[:, None]))) for c in self.changes]
        return z.flatten(1), sum(seen) / len(seen)
