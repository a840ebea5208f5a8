"""A small embedding with four groups, and methods that start from it."""

import torch
import torch.nn.functional as F

from infomeans.methods import METHODS
from infomeans.methods.state import SampleState

K, D = 4, 5


def embedded(n=300, seed=0):
    """Four groups in an embedding, as one-hot targets."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % K
    centres = torch.tanh(torch.randn(K, D, generator=generator))
    z = torch.tanh(centres[labels] + 0.2 * torch.randn(n, D, generator=generator))
    return SampleState(z, F.one_hot(labels, K).float())


def started(slug, data, **parameters):
    method = METHODS[slug].load()(K, D, **parameters)
    method.start(data)
    return method
