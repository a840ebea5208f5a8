"""A trainer for a bare network and samples in a tensor."""

import torch

from infomeans.data.rows import Feed, TensorFeed
from infomeans.model import Model, Scaling
from infomeans.start import Start
from infomeans.training import Trainer


class BareTrainer(Trainer):
    def __init__(self, fabric, network, settings, **options):
        scaling = Scaling(torch.tensor(0.0), torch.tensor(1.0))
        super().__init__(fabric, Model((1,), scaling, network), settings, **options)

    def pretrain(self, x):
        super().pretrain(feed(x))

    def embed(self, x):
        return super().embed(feed(x))

    def train(self, x, method, labels=None, neighbors=None):
        self.model.method = method
        start = None if labels is None else Start(torch.as_tensor(labels), neighbors=neighbors)
        return self.cluster(feed(x), self.embed(x), start)


def feed(x):
    return x if isinstance(x, Feed) else TensorFeed(x)
