import torch
from tests.training.bare import BareTrainer

from infomeans.methods.mi_adm import MIADMMethod
from infomeans.networks import Identity
from infomeans.training import make_fabric, resolve_settings


def settings(n, **overrides):
    return resolve_settings("fast", n, **overrides)


def samples(blobs):
    X = torch.tensor(blobs[0], dtype=torch.float32)
    return (X - X.mean(0)) / X.std(0)


class Forgetful(MIADMMethod):
    """Agrees with the start in the second epoch of the warm-up, and forgets it again."""

    looks = 0

    def warm(self, state):
        self.looks += 1
        if self.looks == 1:
            self.good = self.bias.detach().clone()
        if self.looks <= 5:  # once more it is asked after the return
            wrong = torch.tensor([100.0, 0, 0, 0])
            self.bias.data = self.good if self.looks == 2 else self.good + wrong


def test_the_warm_up_returns_to_the_epoch_that_agreed_most(blobs):
    x, initial = samples(blobs), torch.tensor(blobs[1])
    options = settings(200, epochs=0, warmup_agreement=1.01, warmup_patience=3)
    trainer = BareTrainer(make_fabric("cpu"), Identity(), options, seed=0)
    method = Forgetful(4, 6)
    trainer.train(x, method, initial)
    assert len(trainer.history) == 5  # three epochs without a better one
    assert trainer.history[-1].back_to == 1
    assert (method(x).argmax(dim=1) == initial).float().mean() > 0.9
