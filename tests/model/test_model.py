import torch
from torch import nn

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
