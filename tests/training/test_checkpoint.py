import json
import struct
from contextlib import nullcontext
from functools import cache, partial

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from infomeans import DCN, DEC, DEPICT, MIADM, MID, Autoencoder, SRKMeans
from infomeans.errors import InputError
from infomeans.training import Callback, Checkpoint, resolve_settings, trainer, votes

LENGTHS = {"init": "graph", "pretrain_epochs": 3, "warmup_epochs": 3, "epochs": 3}
CHOICE = {**LENGTHS, "init": "auto"}
"""Settings with a start that is chosen among several."""


class Killed(Callback):
    """Breaks the training off after an epoch, before its state is saved."""

    def __init__(self, phase, epoch):
        self.place = phase, epoch

    def on_epoch(self, record):
        if (record.phase, record.epoch) == self.place:
            raise KeyboardInterrupt


class Seen(Callback):
    """Remembers the epochs that are done."""

    def __init__(self):
        self.epochs = []

    def on_epoch(self, record):
        self.epochs.append((record.phase, record.epoch))


def break_off_and_go_on(model, X, phase, epoch):
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[Killed(phase, epoch)]).fit(X)
    model.set_params(callbacks=None).fit(X)


@pytest.fixture(scope="module")
def unbroken(stripes):
    """A training that nothing interrupts, of each method."""
    return cache(
        lambda cls: cls(3, random_state=0, **CHOICE if cls is MIADM else LENGTHS).fit(stripes[0])
    )


@pytest.mark.parametrize(
    ("cls", "share"),
    [
        *((MIADM, share) for share in (0.2, 0.5, 0.7, 1.0)),
        *((cls, share) for cls in (SRKMeans, DEPICT, MID, DEC, DCN) for share in (0.5, 1.0)),
    ],
)
def test_a_broken_training_ends_as_an_unbroken_one(cls, share, unbroken, stripes, tmp_path):
    images, _ = stripes
    whole = unbroken(cls)
    last = whole.history_[round(share * (len(whole.history_) - 1))]
    model = clone(whole).set_params(checkpoint=tmp_path / "state")
    break_off_and_go_on(model, images, last["phase"], last["epoch"])
    assert np.array_equal(model.predict_proba(images), whole.predict_proba(images))
    assert np.array_equal(model.initial_labels_, whole.initial_labels_)
    untimed = [[{**h, "seconds": 0} for h in m.history_] for m in (model, whole)]
    assert untimed[0] == untimed[1]


@pytest.mark.parametrize("epoch", [1, 2])
def test_a_broken_training_knows_where_it_was_best(epoch, stripes, tmp_path, monkeypatch):
    images, _ = stripes
    monkeypatch.setattr(trainer, "LOST", -1.0)  # it goes back whatever happens
    settings = {**LENGTHS, "random_state": 0, "learning_rate": 0.03}
    whole = MIADM(3, **settings).fit(images)
    model = MIADM(3, **settings, checkpoint=tmp_path / "state")
    break_off_and_go_on(model, images, "alternate", epoch)
    assert np.array_equal(model.predict_proba(images), whole.predict_proba(images))
    again = MIADM(3, **settings, checkpoint=tmp_path / "state").fit(images)
    assert np.array_equal(again.predict_proba(images), whole.predict_proba(images))


@pytest.mark.parametrize(("phase", "epoch"), [("warm-up", 0), ("alternate", 1)])
def test_a_broken_training_on_augmented_images_goes_on_as_well(phase, epoch, stripes, tmp_path):
    images, _ = stripes
    settings = {**LENGTHS, "random_state": 0, "augment": True}
    whole = MIADM(3, **settings).fit(images)
    model = MIADM(3, **settings, checkpoint=tmp_path / "state")
    break_off_and_go_on(model, images, phase, epoch)
    assert np.array_equal(model.predict_proba(images), whole.predict_proba(images))
    untimed = [[{**h, "seconds": 0} for h in m.history_] for m in (model, whole)]
    assert untimed[0] == untimed[1]


@pytest.mark.parametrize("network", ["auto", "residual", None])
def test_vectors_go_on_as_well(network, blobs, tmp_path):
    X, _ = blobs
    settings = {"network": network, "random_state": 0, **LENGTHS}
    whole = MIADM(4, **settings).fit(X)
    last = whole.history_[len(whole.history_) // 2]
    model = MIADM(4, **settings, checkpoint=tmp_path / "state")
    break_off_and_go_on(model, X, last["phase"], last["epoch"])
    assert np.array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_epochs_that_are_done_are_not_done_again(stripes, tmp_path):
    seen = Seen()
    images, _ = stripes
    model = MIADM(3, random_state=0, **LENGTHS, checkpoint=tmp_path / "state")
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[Killed("pretrain", 2)]).fit(images)
    model.set_params(callbacks=[seen]).fit(images)
    assert seen.epochs[0] == ("pretrain", 2)


def test_a_seed_drawn_from_the_system_is_kept(stripes, tmp_path):
    images, _ = stripes
    model = MIADM(3, **LENGTHS, checkpoint=tmp_path / "state")
    first = model.fit(images).predict_proba(images)
    assert np.array_equal(model.fit(images).predict_proba(images), first)


def test_the_best_state_of_pretraining_survives(stripes, tmp_path):
    images, _ = stripes
    settings = {"preset": "paper", "epochs": 4, "random_state": 0}
    whole = Autoencoder(4, **settings).fit(images)
    model = Autoencoder(4, **settings, checkpoint=tmp_path / "state")
    break_off_and_go_on(model, images, "pretrain", 3)
    assert np.array_equal(model.transform(images), whole.transform(images))


@pytest.fixture(scope="module")
def done(stripes, tmp_path_factory):
    """A training that has left its state."""
    state = tmp_path_factory.mktemp("done") / "state"
    return MIADM(3, random_state=0, **LENGTHS, checkpoint=state).fit(stripes[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_clusters": 4}, "n_clusters is 3, not 4"),
        ({"random_state": 1}, "random_state"),
        ({"random_state": np.random.RandomState(1)}, "random_state"),
        ({"init": np.arange(120) % 3}, "init"),
        ({"network": nn.Sequential(nn.Flatten(), nn.Linear(72, 4), nn.Tanh())}, "network"),
        ({"learning_rate": 0.1}, "learning_rate"),
    ],
)
def test_another_training_is_refused(change, message, done, stripes):
    with pytest.raises(ValueError, match=message):
        clone(done).set_params(**change).fit(stripes[0])


def test_other_data_are_refused(done, stripes):
    images, _ = stripes
    for other in (images + 1, images.astype(np.float32), images.reshape(120, 72)):
        with pytest.raises(InputError, match="its data is"):
            clone(done).fit(other)


def test_other_weights_of_ones_own_network_are_refused(blobs, tmp_path):
    X, _ = blobs
    networks = [nn.Sequential(nn.Linear(6, 4), nn.Tanh()) for _ in range(2)]
    model = MIADM(4, random_state=0, **LENGTHS, checkpoint=tmp_path / "state")
    model.set_params(network=networks[0]).fit(X)
    with pytest.raises(InputError, match="its network is"):
        model.set_params(network=networks[1]).fit(X)


def test_other_defaults_of_another_version_are_refused(done, stripes, monkeypatch):
    other = partial(resolve_settings, pretrain_learning_rate=0.1)
    monkeypatch.setattr("infomeans.estimators.deep_clusterer.resolve_settings", other)
    with pytest.raises(InputError, match="its settings is"):
        clone(done).fit(stripes[0])


@pytest.mark.parametrize(("cls", "refused"), [(MIADM, True), (Autoencoder, False)])
def test_other_votes_are_another_clustering_but_no_other_pretraining(
    cls, refused, stripes, tmp_path, monkeypatch
):
    images, _ = stripes
    lengths = LENGTHS if refused else {"epochs": 3}
    model = cls(3, random_state=0, augment=True, **lengths, checkpoint=tmp_path / "state")
    model.fit(images)
    monkeypatch.setitem(votes.VOTES, "doubt", 0.1)
    with pytest.raises(InputError, match="its augmentation is") if refused else nullcontext():
        model.fit(images)


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "state"
    Checkpoint(path, {}).save({"a": torch.ones(3)})
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"damaged.*Delete it to train from the beginning"):
        Checkpoint(path, {}).load()


def test_the_file_holds_numbers_and_json_alone(tmp_path):
    path = tmp_path / "state"
    Checkpoint(path, {"n": 1}).save({"a": torch.ones(3), 0: [1.5, None, "text"]})
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    json.loads(header["__metadata__"]["infomeans"])
    state = Checkpoint(path, {"n": 1}).load()
    assert torch.equal(state["a"], torch.ones(3))
    assert state[0] == [1.5, None, "text"]


def test_a_network_made_anew_each_time_goes_on_too(blobs, tmp_path):
    X, _ = blobs

    def network(shape, n_clusters):
        return nn.Sequential(nn.Linear(*shape, 5), nn.Tanh())

    model = MIADM(4, network=network, **LENGTHS, checkpoint=tmp_path / "state")
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callbacks=[Killed("alternate", 0)]).fit(X)
    other = nn.Sequential(nn.Linear(6, 5), nn.Sigmoid())
    with pytest.raises(InputError, match="network"):
        model.set_params(callbacks=None, network=lambda shape, n_clusters: other).fit(X)
    seen = Seen()
    model.set_params(network=network, callbacks=[seen]).fit(X)
    assert {phase for phase, _ in seen.epochs} == {"alternate"}
    assert model.history_[0]["phase"] == "warm-up"
