"""The same seed gives the same labels from one version to the next."""

import numpy as np
import pytest

from tests.stored.fits import KINDS, METHODS, fitted, stored

ROUNDING = 0.01
"""Share of the labels that another processor may move by adding up in another order."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_a_fit_gives_the_labels_it_gave_before(method, kind):
    before = np.array([int(label) for label in stored()[f"{method} {kind}"]])
    changed = np.mean(fitted(method, kind).labels_ != before)
    assert changed <= ROUNDING
