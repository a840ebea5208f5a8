"""Names for the array types that signatures share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
