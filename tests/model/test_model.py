import numpy as np
import pytest
import torch
from torch import nn

from infomeans import MIADM
from infomeans.errors import InputError
from infomeans.model.model import multiply_adds


def test_counting_the_work_changes_nothing():
    module = nn.Sequential(nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Dropout(), nn.Linear(7, 3))
    module[1].eval()
    torch.manual_seed(0)
    state = torch.get_rng_state()
    assert multiply_adds(module, torch.zeros(2, 5)) == 2 * (5 * 7 + 7 * 3)
    assert [part.training for part in module] == [True, False, True, True]
    assert torch.equal(torch.get_rng_state(), state)
    assert module[1].num_batches_tracked == 0


@pytest.mark.parametrize("call", ["predict", "predict_proba", "transform"])
def test_a_network_that_gives_nan_is_named_with_the_sample(call, blobs):
    class Picky(nn.Module):
        def forward(self, x):
            return torch.where(x < -1e5, torch.nan, x)

    X = blobs[0].copy()
    model = MIADM(2, network=Picky(), warmup_epochs=1, epochs=1, init="graph", random_state=0).fit(
        X
    )
    X[7] = -1e9
    with pytest.raises(InputError, match="NaN or infinity for the samples 7;"):
        getattr(model, call)(X)


@pytest.mark.filterwarnings("ignore:invalid value encountered in reduce")
@pytest.mark.filterwarnings("ignore:overflow encountered in reduce")
def test_absurd_samples_get_a_finite_answer(blobs, stripes):
    for X in (blobs[0], stripes[0], stripes[0].astype(np.float32)):
        model = MIADM(
            3, pretrain_epochs=1, warmup_epochs=1, epochs=1, init="graph", random_state=0
        ).fit(X)
        largest = np.finfo(X.dtype).max
        new = np.stack([np.full(X.shape[1:], v, X.dtype) for v in (largest, -largest, 1e38)])
        new[0].flat[0] = -largest
        assert np.allclose(model.predict_proba(new).sum(axis=1), 1, atol=1e-4)
        assert np.isfinite(model.transform(new)).all()
        assert np.isfinite(model.outlier_score(new)).all()
