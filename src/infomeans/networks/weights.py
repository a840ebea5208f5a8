"""Load saved weights into a network, or say why they do not fit."""

from collections.abc import Mapping

from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from infomeans.errors import InputError, few
from infomeans.networks.adapters import UserNetwork

SHOWN = 4


def load_weights(network: nn.Module, saved: Mapping[str, Tensor]) -> None:
    """Load the weights of a saved network.

    Parameters
    ----------
    network : nn.Module
        The network to load into.
    saved : mapping of str to Tensor
        The saved state.
    """
    try:
        # A network without storage takes the tensors themselves, after their shapes were compared.
        network.load_state_dict(saved, assign=any(t.is_meta for t in network.state_dict().values()))
    except RuntimeError as error:
        # Report names as in the user's module.
        prefix = "module." if isinstance(network, UserNetwork) else ""
        differing = _differences(network.state_dict(), saved, prefix) or str(error)
        if isinstance(network, UserNetwork):
            message = (
                f"The module passed as network= does not fit the saved weights: {differing}; pass "
                f"a module of the same architecture as the one that the model was fitted with."
            )
        else:
            message = f"The saved weights do not fit the model's network: {differing}."
        raise InputError(message) from error


def _differences(own: Mapping[str, Tensor], saved: Mapping[str, Tensor], prefix: str) -> str:
    shapes = [
        f"{name.removeprefix(prefix)} {tuple(value.shape)} instead of {tuple(saved[name].shape)}"
        for name, value in own.items()
        if name in saved and not is_lazy(value) and value.shape != saved[name].shape
    ]
    kinds = {
        "only in the file": sorted(n.removeprefix(prefix) for n in saved if n not in own),
        "only in the module": [name.removeprefix(prefix) for name in own if name not in saved],
        "of another shape": shapes,
    }
    return "; ".join(f"{kind}: {few(names, SHOWN)}" for kind, names in kinds.items() if names)
