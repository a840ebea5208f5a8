"""What a device without doubles, or another one than the CPU, needs."""

import types

import numpy as np
import pytest
import torch

from infomeans.data import Dataset
from infomeans.data.rows import LazyFeed
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.model import Model, Scaling
from infomeans.networks import dense_autoencoder
from infomeans.training import Trainer, resolve_settings

DEVICE = torch.device("meta")


@pytest.fixture
def model():
    scaling = Scaling(torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64))
    return Model((4,), scaling, dense_autoencoder(4, 2), MIADMMethod(2, 2))


def test_the_scaling_stays_on_the_cpu_while_the_network_moves(model):
    settings = resolve_settings("fast", 10, (4,))
    Trainer(types.SimpleNamespace(device=DEVICE), model, settings, seed=0)
    assert {p.device for p in model.network.parameters()} == {DEVICE}
    assert model.scaling.shift.device == torch.device("cpu")
    # Samples that are prepared on demand are scaled on the CPU, then moved.
    rows = Dataset.of_array(np.ones((10, 4))).rows
    lazy = LazyFeed(rows, lambda samples: model.prepare(samples, DEVICE))
    assert lazy.batch(torch.arange(3)).device == DEVICE


def test_the_mean_sample_needs_no_doubles_on_the_device():
    class OnDevice(torch.Tensor):
        """Samples of a device that has no doubles."""

        def cpu(self):
            return self.as_subclass(torch.Tensor)

        def double(self):
            raise TypeError("no float64 on this device")

    def prepare(samples):
        return torch.tensor(samples).float().as_subclass(OnDevice)

    lazy = LazyFeed(Dataset.of_array(np.arange(8.0).reshape(4, 2)).rows, prepare)
    np.testing.assert_allclose(lazy.mean(), [3, 4])
