"""Random distributions over clusters, for hypothesis."""

import torch
from hypothesis import strategies as st


@st.composite
def rows(draw, like=None, min_n=2, max_n=30, min_k=2, max_k=8, sharpness=3.0):
    """A row-stochastic matrix (n, K); of the shape of another where one is given."""
    n, k = (
        like.shape
        if like is not None
        else (
            draw(st.integers(min_n, max_n)),
            draw(st.integers(min_k, max_k)),
        )
    )
    seed = draw(st.integers(0, 2**32 - 1))
    scale = draw(st.floats(0.01, sharpness))
    generator = torch.Generator().manual_seed(seed)
    logits = scale * torch.randn(n, k, generator=generator, dtype=torch.float64)
    return torch.softmax(logits, dim=1)


@st.composite
def pairs_of_rows(draw, **options):
    """Posteriors and targets of one shape."""
    p = draw(rows(**options))
    return p, draw(rows(like=p))
