"""How strange a sample is, compared with the samples of a fit.

Four signs are looked at, and the strongest one counts:

- values: features have values that are rare for them,
- pairs: features have values that are rare beside that of the feature they go with,
- distance: few samples are near,
- direction: few samples have a similar pattern, whatever its strength.

A sign is measured in units of its own spread, and the result is the share of the fitted samples
that are less strange. Neither the network nor the clusters matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from infomeans._typing import Array
from infomeans.data.rows import Feed
from infomeans.data.shelf import IN_MEMORY
from infomeans.model.folder import tensors_under
from infomeans.model.scaling import LARGEST
from infomeans.processes import ALONE, Processes

FEATURES = 512
"""Number of features to look at; of more, a random selection."""

SAMPLES = 2_000
"""Number of samples to keep for the search for neighbours; of more, a random selection."""

READ = 256
"""Number of those samples that are read at once; images may be large."""

COMPONENTS = 24
"""Number of principal components to keep of a sample."""

NEIGHBORS, NEAR_SHARE = 10, 0.05
"""Distances are measured to this neighbour, or to a nearer one if it is not among this share."""

INNER = (0.005, 0.995)
"""The quantiles of a feature between which the bins lie."""

DIMENSIONS = 4
"""Fewest features with directions: in the plane, they leave only a circle."""

UPPER = (0.75, 0.9, 0.95, 0.99, 1.0)
"""The spread of a sign is from its median to the first of these quantiles above it."""

QUANTILES = 1_001
"""Number of quantiles of the strangeness to keep."""

STRANGEST = 1e300
"""Signs of nearly equal samples have a tiny spread; in its units, others must stay finite."""

TINY = 1e-12

BUFFERS = ("features", "partners", "slopes", "origin", "middle", "spread", "quantiles")

SAME = 1e-9
"""Of two samples this close, relative to their spread, one is taken for the other."""


class Strangeness(nn.Module):
    """Scores samples by how strange they are.

    It keeps the histogram of every feature, and up to 2,000 samples in 24 principal components.

    Parameters
    ----------
    tensors : mapping of str to Tensor
        What `of` has learned, under the names of `state_dict`.

    Examples
    --------
    >>> import torch
    >>> from infomeans.data.rows import TensorFeed
    >>> from infomeans.model import Strangeness
    >>> x = torch.randn(200, 3, generator=torch.manual_seed(0))
    >>> strangeness, scores = Strangeness.of(TensorFeed(x))
    >>> round(float(scores.mean()), 2)
    0.5
    >>> strangeness(torch.tensor([[0.0, 0.0, 0.0], [9.0, -9.0, 9.0]])).round(decimals=1).tolist()
    [0.0, 1.0]
    """

    features: Tensor
    partners: Tensor
    slopes: Tensor
    origin: Tensor
    middle: Tensor
    spread: Tensor
    quantiles: Tensor

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__()
        for name in BUFFERS:
            self.register_buffer(name, tensors[name])
        self.values = Values(**tensors_under("values", tensors))
        self.pairs = Values(**tensors_under("pairs", tensors))
        self.distance = Nearest(**tensors_under("distance", tensors))
        patterns = tensors_under("direction", tensors)
        self.direction = Nearest(**patterns) if patterns else None

    @classmethod
    @torch.no_grad()
    def of(cls, x: Feed, processes: Processes = ALONE) -> tuple[Self, Array]:
        """Learn from the scaled samples of a fit, and score them.

        They are read twice, block by block.

        Parameters
        ----------
        x : Feed
            The samples of this process.
        processes : Processes
            The processes that train together.

        Returns
        -------
        Strangeness, (n,) array
            What was learned, and the scores of all samples.
        """
        draw = torch.Generator().manual_seed(0)
        some = torch.randperm(x.n_samples, generator=draw)[:SAMPLES].sort().values
        n_features = x.anywhere(some[:1]).numel()
        features = torch.randperm(n_features, generator=draw)[:FEATURES].sort().values
        flat = torch.cat([_flat(x.anywhere(part), features) for part in some.split(READ)])
        partners, slopes = _partners(flat)
        # Pictures have a background, dark or bright. Their pattern is what differs from it.
        origin = flat.flatten().median()
        looked_at = {"features": features, "partners": partners, "slopes": slopes, "origin": origin}

        def both(part: Tensor) -> Tensor:
            return torch.cat([part, part - slopes * part[:, partners]], dim=1)

        # One reading for both.
        seen = (both(_flat(block, features)) for block in x.blocks())
        histograms = Values.learned(both(flat), seen, processes)
        parts = {
            "values": {name: t[: len(features)] for name, t in histograms.items()},
            "pairs": {name: t[len(features) :] for name, t in histograms.items()},
            "distance": Nearest.learned(flat),
        }
        if len(features) >= DIMENSIONS:
            parts["direction"] = Nearest.learned(_directions(flat - origin))
        unknown = dict.fromkeys(("middle", "spread", "quantiles"), origin)
        found = {f"{part}.{name}": t for part, own in parts.items() for name, t in own.items()}
        made = cls({**looked_at, **unknown, **found})
        signs = IN_MEMORY.rows((made.signs(block) for block in x.blocks()), len(x))
        signs = processes.gathered(signs)
        made.middle, made.spread = _standard(signs)
        strangeness = made.strongest(signs)
        made.quantiles = _quantiles(strangeness, np.linspace(0, 1, QUANTILES))
        return made, made.shares(strangeness).numpy()

    def forward(self, x: Tensor) -> Tensor:
        """The share of the fitted samples that are less strange (n,), of scaled samples."""
        return self.shares(self.strongest(self.signs(x)))

    def signs(self, x: Tensor) -> Tensor:
        """Values, pairs, distance and, if there are enough features, direction (n, 3 or 4)."""
        flat = _flat(x, self.features)
        left = flat - self.slopes * flat[:, self.partners]
        signs = [self.values(flat), self.pairs(left), self.distance(flat)]
        if self.direction is not None:
            signs.append(self.direction(_directions(flat - self.origin)))
        return torch.stack(signs, dim=1)

    def strongest(self, signs: Tensor) -> Tensor:
        """The strangeness (n,): the strongest sign, in units of its spread."""
        return ((signs - self.middle) / self.spread).amax(dim=1).clamp(-STRANGEST, STRANGEST)

    def shares(self, strangeness: Tensor) -> Tensor:
        """The share of the fitted samples with less strangeness (n,)."""
        # Equal samples must not differ because of rounding errors.
        lower = strangeness - SAME * (1 + strangeness.abs())
        last = len(self.quantiles) - 1
        above = torch.searchsorted(self.quantiles, lower).clamp(1, last)
        low, high = self.quantiles[above - 1], self.quantiles[above]
        part = ((lower - low) / torch.where(high > low, high - low, 1)).clamp(0, 1)
        return (above - 1 + part) / last


class Values(nn.Module):
    """How rare the values of a sample are: the sum of -log p over the features, by histograms.

    Parameters
    ----------
    low, high : (d,) tensors
        Where the inner bins of each feature begin and end.
    surprise : (d, bins) tensor
        -log p of every bin; the first and the last hold what is outside.
    """

    low: Tensor
    high: Tensor
    surprise: Tensor

    def __init__(self, low: Tensor, high: Tensor, surprise: Tensor) -> None:
        super().__init__()
        self.register_buffer("low", low)
        self.register_buffer("high", high)
        self.register_buffer("surprise", surprise)

    @classmethod
    def learned(
        cls, some: Tensor, blocks: Iterable[Tensor], processes: Processes = ALONE
    ) -> dict[str, Tensor]:
        """The tensors: bins from some samples (m, d), counts from all blocks (n, d)."""
        low, high = _quantiles(some, INNER).float()
        bins = max(round(len(some) ** (1 / 3)), 2) + 2
        empty = cls(low, high, some.new_zeros(some.shape[1], bins))
        counts = torch.zeros(empty.surprise.numel(), dtype=torch.int64)
        for block in blocks:
            counts += torch.bincount(empty.bins(block).flatten(), minlength=len(counts))
        counts = processes.total({"counts": counts})["counts"]
        # Every bin has one more, so that none is impossible.
        counts = (counts + 1).double().view_as(empty.surprise)
        surprise = -(counts / counts.sum(dim=1, keepdim=True)).log()
        return {"low": low, "high": high, "surprise": surprise.float()}

    def forward(self, x: Tensor) -> Tensor:
        """The sum of -log p (n,) of samples (n, d)."""
        return self.surprise.flatten()[self.bins(x)].double().sum(dim=1)

    def bins(self, x: Tensor) -> Tensor:
        """The bins of samples (n, d), counted over all features."""
        d, bins = self.surprise.shape
        width = torch.where(self.high > self.low, self.high - self.low, 1)
        inner = ((x - self.low) / width * (bins - 2)).floor().clamp(0, bins - 3) + 1
        inner = torch.where(x < self.low, 0, torch.where(x > self.high, bins - 1, inner))
        return inner.long() + bins * torch.arange(d)


class Nearest(nn.Module):
    """Distance to the tenth neighbour among some of the fitted samples.

    A sample that is among them is not its own neighbour.

    Parameters
    ----------
    mean : (d,) tensor
        Mean of the samples.
    components : (d, c) tensor
        Their leading principal components; (d, 0) if all features are kept.
    samples : (m, c + 1) or (m, d) tensor
        The samples: their components, and the length of what is left.
    """

    mean: Tensor
    components: Tensor
    samples: Tensor

    def __init__(self, mean: Tensor, components: Tensor, samples: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("components", components)
        self.register_buffer("samples", samples)

    @classmethod
    def learned(cls, some: Tensor) -> dict[str, Tensor]:
        """The tensors, from some samples (m, d)."""
        mean = some.mean(dim=0)
        components = some.new_empty(some.shape[1], 0)
        if some.shape[1] > COMPONENTS:
            centred = some - mean
            # As a loaded model has them: products of other layouts are rounded differently.
            vectors = torch.linalg.eigh(centred.T @ centred).eigenvectors
            components = vectors[:, -COMPONENTS:].contiguous()
        tensors = {"mean": mean.float(), "components": components.float()}
        projected = cls(**tensors, samples=some).projected(some)
        return {**tensors, "samples": projected.float()}

    def forward(self, x: Tensor) -> Tensor:
        """The distances (n,) of samples (n, d)."""
        x, samples = self.projected(x), self.samples.double()
        lengths = samples.square().sum(dim=1)
        squared = torch.addmm(lengths, x, samples.T, alpha=-2)
        count = max(min(NEIGHBORS, round(NEAR_SHARE * len(samples))), 1)
        near = squared.topk(min(count + 1, len(samples)), largest=False).values
        near += x.square().sum(dim=1, keepdim=True)
        itself = near[:, 0] <= SAME * lengths.mean()
        return torch.where(itself, near[:, -1], near[:, :count][:, -1]).clamp_min(0).sqrt()

    def projected(self, x: Tensor) -> Tensor:
        """Samples (n, d) in their principal components, with the length of what is left."""
        centred = x - self.mean
        if not self.components.shape[1]:
            return centred
        kept = centred @ self.components.double()
        left = centred.square().sum(dim=1) - kept.square().sum(dim=1)
        return torch.cat([kept, left.clamp_min(0).sqrt()[:, None]], dim=1)


def _flat(x: Tensor, features: Tensor) -> Tensor:
    """These features in double precision, on the CPU: not every device has doubles."""
    return x.flatten(1).cpu()[:, features].double().clamp(-LARGEST, LARGEST)


def _directions(flat: Tensor) -> Tensor:
    lengths = flat.norm(dim=1, keepdim=True)
    return flat / torch.where(lengths > 0, lengths, 1)


def _partners(flat: Tensor) -> tuple[Tensor, Tensor]:
    """The feature that each feature goes with, and the slope of the line from it, both (d,).

    It is the one with the highest correlation, positive or negative. The slope is smaller than that
    of the data, the more of the correlation may be chance: r^2 = 2 log(d) / m among m samples.
    """
    centred = flat - flat.mean(dim=0)
    products = centred.T @ centred
    squares = products.diagonal().clone().clamp_min(TINY)
    products.fill_diagonal_(0)
    shares, partners = (products.square() / squares / squares[:, None]).max(dim=1)
    chance = 2 * math.log(len(squares)) / len(flat)
    slopes = products.gather(1, partners[:, None])[:, 0] / squares[partners]
    return partners, slopes * (1 - chance / shares.clamp_min(TINY)).clamp_min(0)


def _standard(signs: Tensor) -> tuple[Tensor, Tensor]:
    """Median and upper spread of every sign."""
    middle, *upper = _quantiles(signs, (0.5, *UPPER))
    spread = torch.ones_like(middle)
    for quantile in reversed(upper):
        spread = torch.where(quantile > middle, quantile - middle, spread)
    return middle, spread


def _quantiles(values: Tensor, shares: Sequence[float] | Array) -> Tensor:
    return torch.as_tensor(np.quantile(values.numpy(), shares, axis=0))
