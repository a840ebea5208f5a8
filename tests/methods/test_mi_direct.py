import torch
from tests.methods.embedded import embedded, started

from infomeans.methods.batch import Batch
from infomeans.networks import Identity


def test_regularised_information_maximisation_penalises_the_weights_once():
    data = embedded()
    plain, penalised = started("mi-d", data), started("mi-d", data, lam=0.3)
    batch = Batch(Identity(), data.embedding)
    terms = penalised.loss(batch)
    torch.testing.assert_close(terms["penalty"], 0.3 * penalised.weight.square().sum())
    torch.testing.assert_close(terms["clustering"], plain.loss(batch)["clustering"])
    assert "penalty" not in plain.loss(batch)


def test_the_marginal_of_mi_d_follows_the_noisy_pass_alone():
    data = embedded()
    method = started("mi-d", data)
    before = method.marginal.clone()
    torch.testing.assert_close(before, method(data.embedding).mean(0))
    method.refresh(data)
    torch.testing.assert_close(method.marginal, before)
    batch = Batch(Identity(), data.embedding[:30])
    method.after_step(method.step_statistics(batch))
    expected = 0.9 * before + 0.1 * method(data.embedding[:30]).mean(0)
    torch.testing.assert_close(method.marginal, expected)
