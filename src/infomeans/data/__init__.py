"""From what people have to tensors: layouts and scaling."""

from infomeans.data.arrays import channels_first
from infomeans.data.scaling import Scaling

__all__ = ["Scaling", "channels_first"]
