import pytest
import torch
import torch.nn.functional as F
from tests.methods.embedded import embedded, started

from infomeans.methods.state import SampleState
from infomeans.training import Record, kept
from infomeans.training.history import initial_agreement, mean_change, measure


@pytest.mark.parametrize("chunk", [7, 8192])
def test_what_is_measured_adds_up_over_any_chunks(chunk, monkeypatch):
    monkeypatch.setattr(SampleState, "chunk", chunk)
    state, sums = embedded(), []
    method, initial = started("mi-adm", state), state.targets.argmax(dim=1).roll(3)
    same = (method(state.embedding).argmax(dim=1) == initial).float().mean()
    before = state.targets.roll(1, dims=1)
    expected = F.mse_loss(state.targets, before)
    total = SampleState.total
    monkeypatch.setattr(
        SampleState, "total", lambda *args: sums.append(total(*args)) or total(*args)
    )
    assert initial_agreement(method, state, initial) == pytest.approx(same.item())
    assert mean_change(state, before) == pytest.approx(expected.item())
    assert measure(method, state)["empty"] == 0
    # One process of several adds its sums to those of the others.
    wanted = [{"same", "known"}, {"change"}, {"p", "h", "sizes"}]
    assert [set(part) for part in sums] == wanted
    assert all(isinstance(value, torch.Tensor) for part in sums for value in part.values())


@pytest.mark.parametrize("name", ["mi", "empty", "loss"])
def test_a_term_cannot_hide_another_value_of_the_record(name):
    with pytest.raises(ValueError, match=f"term {name}, but records have another value"):
        Record("alternate", 0).add_terms({"clustering": 1.0, name: 2.0})


def test_the_state_before_a_phase_is_what_was_kept_then():
    before = [{"phase": "warm-up", "epoch": 0, "mi": 2.0}, {"phase": "warm-up", "epoch": 1}]
    before[1] |= {"mi": 1.0, "back_to": 0}
    after = [{"phase": "alternate", "epoch": 0}, {"phase": "alternate", "epoch": 1, "back_to": -1}]
    assert kept([*before, *after])["mi"] == 2.0
    assert kept(after) == {}
