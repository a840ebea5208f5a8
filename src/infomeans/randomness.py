"""Random numbers of a training, from generators of its own.

torch has one generator per device, which all threads of a process share. Two trainings in threads
would draw from it in turn, and neither could be repeated. `Draws` gives every random function that
is called inside it a generator of one training, also in modules of the user.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

TAKE_A_GENERATOR = frozenset(
    [
        *(torch.rand, torch.randn, torch.randint, torch.randperm, torch.normal, torch.bernoulli),
        *(torch.multinomial, torch.poisson, torch.binomial),
        *(Tensor.uniform_, Tensor.normal_, Tensor.bernoulli_, Tensor.random_, Tensor.cauchy_),
        *(Tensor.exponential_, Tensor.geometric_, Tensor.log_normal_),
        *(Tensor.bernoulli, Tensor.multinomial),
        *(nn.init.uniform_, nn.init.normal_, nn.init.kaiming_uniform_),
    ]
)
"""Random functions that draw from a generator, if they are given one."""

TAKE_NONE = frozenset(
    [
        *(torch.rand_like, torch.randn_like, torch.randint_like),
        *(torch.dropout, torch.dropout_, torch.alpha_dropout, torch.alpha_dropout_),
        *(torch.feature_dropout, torch.feature_dropout_, torch.native_dropout),
        *(torch.feature_alpha_dropout, torch.feature_alpha_dropout_, torch.rrelu, torch.rrelu_),
        *(F.alpha_dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.feature_alpha_dropout),
        *(F.rrelu, F.gumbel_softmax, F.fractional_max_pool2d, F.fractional_max_pool3d),
        *(F.multi_head_attention_forward, F.scaled_dot_product_attention),
        *(torch.lstm, torch.gru, torch.rnn_tanh, torch.rnn_relu),
        *(torch._standard_gamma, torch._sample_dirichlet),
    ]
)
"""Random functions that only know the global generator, which is lent to them for the call."""

_lent = threading.Lock()
if hasattr(os, "register_at_fork"):
    # A forked process must find the lock free and the global generator as it was.
    os.register_at_fork(
        before=_lent.acquire, after_in_parent=_lent.release, after_in_child=_lent.release
    )


class Draws(TorchFunctionMode):
    """Random functions of torch that are called inside draw from generators of their own.

    The global generators stay as they are. Only the thread that enters it is affected.

    Parameters
    ----------
    seed : int
        Seed of the generators.

    Examples
    --------
    >>> import torch
    >>> from infomeans.randomness import Draws
    >>> with Draws(0):
    ...     first = torch.rand(3)
    >>> with Draws(0):
    ...     torch.equal(torch.rand(3), first)
    True
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed
        self._generators: dict[torch.device, torch.Generator] = {}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func in TAKE_A_GENERATOR and kwargs.get("generator") is None:
            return func(*args, **{**kwargs, "generator": self._generator(args, kwargs)})
        if func is F.dropout:
            return self._dropout(*args, **kwargs)
        if func in TAKE_NONE:
            with _lend(self._generator(args, kwargs)):
                return func(*args, **kwargs)
        return func(*args, **kwargs)

    def _dropout(
        self, x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
    ) -> Tensor:
        """The same as `F.dropout`, which does not take a generator."""
        if not training or not 0 < p < 1:
            return F.dropout(x, p, training, inplace)
        noise = torch.empty_like(x).bernoulli_(1 - p, generator=self._of(x.device)).div_(1 - p)
        return x.mul_(noise) if inplace else x * noise

    def _generator(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> torch.Generator:
        device = kwargs.get("device")
        tensors = (one.device for one in (*args, *kwargs.values()) if isinstance(one, Tensor))
        return self._of(
            next(tensors, torch.get_default_device()) if device is None else torch.device(device)
        )

    def _of(self, device: torch.device) -> torch.Generator:
        if device.type == "meta":
            device = torch.device("cpu")
        if device.type == "cuda" and device.index is None:
            device = torch.device("cuda", torch.cuda.current_device())
        if device not in self._generators:
            self._generators[device] = torch.Generator(device).manual_seed(self._seed)
        return self._generators[device]


undrawn = torch._C.DisableTorchFunction
"""Inside, random functions draw from the global generator again, and all others are faster."""


@contextmanager
def _lend(own: torch.Generator) -> Iterator[None]:
    """Let the global generator of a device go on from this one, and put it back afterwards."""
    common = _global_generator(own.device)
    with _lent, undrawn():
        before = common.get_state()
        common.set_state(own.get_state())
        try:
            yield
        finally:
            own.set_state(common.get_state())
            common.set_state(before)


def _global_generator(device: torch.device) -> torch.Generator:
    if device.type == "cuda":
        return torch.cuda.default_generators[device.index or 0]
    if device.type == "mps":
        return torch.mps._get_default_mps_generator()
    return torch.default_generator


def seed_for(seed: int, *place: int) -> int:
    """A seed for one place in training, such as (phase, epoch).

    Each epoch has its own seed. Its random numbers do not depend on whether training was resumed.
    """
    return int(np.random.SeedSequence([seed, *place]).generate_state(1, np.uint64)[0]) >> 1
