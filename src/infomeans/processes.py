"""The processes that train together.

torchrun starts them, Lightning Fabric connects them. Every process holds a part of the samples and
of their state. What is known of all samples are sums, which go through `total`, and a few rows,
which go through `gathered`. Decisions are made from sums, or by the first process (`made_once`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from infomeans.errors import InputError

T = TypeVar("T")


class Processes:
    """What the processes of a training know of each other.

    Parameters
    ----------
    device : torch.device
        Where tensors are exchanged.
    rank, count : int
        Number of this process, from 0, and of all processes.

    Examples
    --------
    One process alone has all samples, and nobody to ask.

    >>> import torch
    >>> from infomeans.processes import Processes
    >>> alone = Processes()
    >>> alone.span(10), alone.total({"n": torch.tensor(3)})
    ((0, 10), {'n': tensor(3)})
    """

    def __init__(self, device: torch.device | None = None, rank: int = 0, count: int = 1) -> None:
        self.device = device or torch.device("cpu")
        self.rank, self.count = rank, count

    @property
    def first(self) -> bool:
        """Whether this process writes files and talks to the user."""
        return self.rank == 0

    @property
    def alone(self) -> bool:
        """Whether there are no other processes."""
        return self.count == 1

    def span(self, n: int) -> tuple[int, int]:
        """The first of the n samples that this process holds, and the first that the next holds."""
        return self.rank * n // self.count, (self.rank + 1) * n // self.count

    def own(self, rows: Tensor) -> Tensor:
        """The rows of this process, of the rows of all samples."""
        first, end = self.span(len(rows))
        return rows[first:end]

    def total(self, sums: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The sums over all processes, of sums over the samples of each."""
        if self.alone or not sums:
            return dict(sums)
        kinds = {value.dtype for value in sums.values()}
        found = {}
        for kind in sorted(kinds, key=str):
            parts = {name: value for name, value in sums.items() if value.dtype == kind}
            flat = torch.cat([value.flatten().to(self.device) for value in parts.values()])
            dist.all_reduce(flat)
            pieces = flat.split([value.numel() for value in parts.values()])
            for (name, value), piece in zip(parts.items(), pieces, strict=True):
                found[name] = piece.view_as(value).to(value.device)
        return {name: found[name] for name in sums}

    def count_of(self, n: int) -> int:
        """The sum of a whole number over all processes."""
        return n if self.alone else int(self.total({"n": self._number(n)})["n"])

    def any(self, flag: bool) -> bool:
        """Whether it is true for any process."""
        return self.count_of(int(flag)) > 0

    def least(self, n: int) -> int:
        """The smallest of the whole numbers of all processes."""
        if self.alone:
            return n
        smallest = self._number(n)
        dist.all_reduce(smallest, dist.ReduceOp.MIN)
        return int(smallest)

    def same(self, tensors: Iterable[Tensor]) -> None:
        """Give all processes the tensors of the first, in place."""
        for tensor in tensors if not self.alone else ():
            dist.broadcast(tensor.detach(), src=0)

    def gathered(self, rows: Tensor) -> Tensor:
        """The rows (n, ...) of all samples, from the rows of each process."""
        if self.alone:
            return rows
        lengths = [self._number(0) for _ in range(self.count)]
        dist.all_gather(lengths, self._number(len(rows)))
        # All processes must send equally much.
        longest = max(int(length) for length in lengths)
        padded = rows.new_zeros(longest, *rows.shape[1:], device=self.device)
        padded[: len(rows)] = rows
        parts = [torch.empty_like(padded) for _ in range(self.count)]
        dist.all_gather(parts, padded)
        whole = torch.cat([part[: int(n)] for part, n in zip(parts, lengths, strict=True)])
        return whole.to(rows.device)

    def made_once(self, make: Callable[[], T]) -> T:
        """What the first process makes; the others get a copy.

        If that fails because of the input, all processes raise the same error.
        """
        if self.alone:
            return make()
        made: list[T | InputError | None] = [None]
        if self.first:
            try:
                made = [make()]
            except (InputError, ValueError) as error:
                made = [error if isinstance(error, InputError) else InputError(str(error))]
        dist.broadcast_object_list(made, device=self.device)
        if isinstance(made[0], InputError):
            raise made[0]
        return made[0]  # type: ignore[return-value]

    def check_same(self, value: str, problem: str) -> None:
        """Raise InputError in all processes if the value is not the same in all."""
        if self.alone:
            return
        values: list[str] = [""] * self.count
        dist.all_gather_object(values, value)
        others = [rank for rank, other in enumerate(values) if other != values[0]]
        if others:
            raise InputError(problem.format(", ".join(map(str, others))))

    def _number(self, n: int) -> Tensor:
        return torch.tensor(n, device=self.device)


ALONE = Processes()
"""A process without others."""
