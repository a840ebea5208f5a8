"""The model: scaling, network, method and views as one module."""

from infomeans.model.model import Model
from infomeans.model.scaling import Scaling

__all__ = ["Model", "Scaling"]
