"""The model: scaling, network, method and views as one module, and how strange a sample is."""

from infomeans.model.model import Model
from infomeans.model.scaling import Scaling
from infomeans.model.strangeness import Strangeness

__all__ = ["Model", "Scaling", "Strangeness"]
