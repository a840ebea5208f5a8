from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from tests.training.bare import BareTrainer, feed

from infomeans import functional as IF
from infomeans.estimators import DeepClusterer
from infomeans.methods import METHODS
from infomeans.methods.base import Method
from infomeans.methods.mi_adm import MIADMMethod
from infomeans.methods.state import Neighbors
from infomeans.networks import Identity, dense_autoencoder
from infomeans.randomness import seed_for
from infomeans.start import Start
from infomeans.start.score import Score
from infomeans.training import kept, make_fabric, resolve_settings, votes
from infomeans.training import trainer as trainer_module
from infomeans.training.phases import mean_loss


class DeepClusterLike(Method):
    """A seventh method, honestly not additive: K-means on the whole embedding, a fresh head."""

    def __init__(self, n_clusters, n_features):
        super().__init__(n_clusters, n_features)
        self.head = torch.nn.Linear(n_features, n_clusters)
        self.register_buffer("prototypes", torch.zeros(n_clusters, n_features))

    def log_posteriors(self, z):
        return F.log_softmax(self.head(z), dim=1)

    def loss(self, batch):
        log_p = self.log_posteriors(batch.noisy)
        return {
            "clustering": -(batch.q * log_p).sum(1).mean(),
            "reconstruction": batch.reconstruction,
        }

    def refresh(self, data):
        kmeans = KMeans(self.n_clusters, init=self.prototypes.numpy(), n_init=1).fit(
            data.embedding.numpy()
        )
        self._place(torch.tensor(kmeans.cluster_centers_))
        data.targets = F.one_hot(torch.tensor(kmeans.labels_).long(), self.n_clusters).float()

    def refill(self, data):
        return 0  # K-means leaves no cluster empty


def test_a_seventh_method_needs_no_change_in_the_trainer(blobs):
    class DeepCluster(DeepClusterer):
        method = DeepClusterLike

    X, classes = blobs
    model = DeepCluster(4, random_state=0, pretrain_epochs=20, epochs=15, batch_size=10).fit(X)
    assert adjusted_rand_score(classes, model.labels_) > 0.95
    assert {"pretrain", "warm-up", "alternate"} == {r["phase"] for r in model.history_}


def settings(n, **overrides):
    return resolve_settings("fast", n, **overrides)


def samples(blobs):
    X = torch.tensor(blobs[0], dtype=torch.float32)
    return (X - X.mean(0)) / X.std(0)


@pytest.mark.parametrize("slug", ["mi-adm", "sr-kmeans"])
def test_a_cluster_that_empties_is_refilled_and_history_says_so(slug, blobs):
    class Emptying(METHODS[slug].load()):
        """Loses a cluster when it looks at the data after the first epoch."""

        looks = 0

        def update(self, statistics):
            self.looks += 1
            again = super().update(statistics)
            if self.looks == 2:
                with torch.no_grad():
                    if slug == "mi-adm":
                        self.bias[0] = -1e4
                    else:
                        self.prototypes[0] = 1e4
            return again

    x = samples(blobs)
    trainer = BareTrainer(
        make_fabric("cpu"), Identity(), settings(200, warmup_epochs=0, epochs=6), seed=0
    )
    method = Emptying(4, x.shape[1])
    trainer.train(x, method, torch.tensor(blobs[1]))
    empty = [record.empty for record in trainer.history]
    assert empty[0] == 1
    assert empty[-1] == 0
    assert len(set(method(x).argmax(1).tolist())) == 4


@pytest.mark.parametrize(
    ("slug", "goes_back"), [("mi-adm", True), ("mi-d", True), ("depict", False)]
)
def test_a_training_that_has_lost_its_clusters_goes_back_to_the_best(slug, goes_back, blobs):
    class Losing(METHODS[slug].load()):
        """Knows less and less of its clusters after the second of five epochs of two steps."""

        steps = 0

        def after_step(self, statistics):
            super().after_step(statistics)
            self.steps += 1
            if self.steps > 4:
                with torch.no_grad():
                    for parameter in self.parameters():
                        parameter *= 0.5

    x = samples(blobs)
    trainer = BareTrainer(
        make_fabric("cpu"), Identity(), settings(200, warmup_epochs=0, epochs=5), seed=0
    )
    method = Losing(4, x.shape[1])
    trainer.train(x, method, torch.tensor(blobs[1]))
    information = [record.mi for record in trainer.history]
    assert len(information) == 5
    assert information[-1] < max(information) - 0.1
    kept = max(information) if goes_back else information[-1]
    best = information.index(max(information)) if goes_back else None
    assert [record.back_to for record in trainer.history] == [*[None] * 4, best]
    assert IF.mutual_information(method(x)).item() == pytest.approx(kept, abs=1e-5)


def test_a_prior_or_a_penalty_may_cost_information(blobs):
    given = {"sizes": [0.4, 0.3, 0.2, 0.1]}
    for slug in ("mi-adm", "mi-d"):
        assert METHODS[slug].load()(4, 6).gains_information
        assert not METHODS[slug].load()(4, 6, **given).gains_information
        assert not METHODS[slug].load()(4, 6, lam=0.1).gains_information


def test_epochs_are_seeded_one_by_one(blobs):
    # An epoch's random numbers depend on its place, not on what was drawn before it.
    x = samples(blobs)
    losses = []
    for draws in (0, 1000):
        torch.manual_seed(0)
        network = dense_autoencoder(6, 3)
        torch.rand(draws)
        trainer = BareTrainer(make_fabric("cpu"), network, settings(200, pretrain_epochs=2), seed=7)
        trainer.pretrain(x)
        losses.append([record.loss for record in trainer.history])
    assert losses[0] == losses[1]
    assert seed_for(0, 1, 2) != seed_for(0, 2, 1)


def test_every_sample_is_seen_once_an_epoch(blobs):
    seen = []

    class Watching(MIADMMethod):
        def loss(self, batch):
            seen.append(batch.x)
            return super().loss(batch)

    x = samples(blobs)[:101]
    trainer = BareTrainer(
        make_fabric("cpu"), Identity(), settings(101, warmup_epochs=0, epochs=1), seed=0
    )
    trainer.train(x, Watching(4, 6), torch.arange(101) % 4)
    assert [len(part) for part in seen] == [51, 50]
    rows = np.unique(torch.cat(seen).numpy(), axis=0)
    np.testing.assert_array_equal(rows, np.unique(x.numpy(), axis=0))


@pytest.mark.parametrize("slug", ["mi-adm", "depict", "dec"])
def test_a_sample_in_doubt_gets_the_target_of_its_neighbours(slug, blobs, monkeypatch):
    seen = []

    class Watching(METHODS[slug].load()):
        def loss(self, batch):
            seen.append((batch.x, batch.q))
            return super().loss(batch)

    x, classes = samples(blobs), torch.tensor(blobs[1])
    doubtful = 0.5 * (x[classes == 0].mean(0) + x[classes == 1].mean(0))
    x[0], x[1] = doubtful, doubtful
    # The first sample's neighbours belong to cluster 0, the second's to cluster 1.
    members = [(classes == side).nonzero().flatten()[3:8] for side in (0, 1)]
    neighbors = alike(torch.stack([*members, *members[:1] * (len(x) - 2)]))
    options = settings(200, warmup_epochs=0, epochs=1)
    trainer = BareTrainer(make_fabric("cpu"), Identity(), options, seed=0, augment=torch.clone)
    monkeypatch.setattr(IF, "vote_weight", lambda q, votes, seen: 0.5)
    trainer.train(x, Watching(4, 6), classes, neighbors)
    rows = torch.cat([part for part, _ in seen])
    targets = torch.cat([q for _, q in seen])[(rows == doubtful).all(dim=1)]
    assert sorted(targets.argmax(dim=1).tolist()) == [0, 1]


def alike(ids):
    return Neighbors(ids, torch.full(ids.shape, 1 / ids.shape[1]))


@pytest.mark.parametrize(
    ("slug", "augment", "vote"),
    [
        ("mi-adm", torch.clone, True),
        ("mi-adm", None, False),
        ("mi-d", torch.clone, False),
        ("dcn", torch.clone, False),
    ],
)
def test_only_targets_are_voted_on_and_only_where_samples_are_augmented(slug, augment, vote, blobs):
    x = samples(blobs)
    options = settings(200, warmup_epochs=1, epochs=2)
    trainer = BareTrainer(make_fabric("cpu"), Identity(), options, seed=0, augment=augment)
    neighbors = alike(torch.arange(200)[:, None].roll(1, 0))
    trainer.train(x, METHODS[slug].load()(4, 6), torch.tensor(blobs[1]), neighbors)
    warm_up, *alternation = trainer.history
    assert warm_up.vote_weight is None
    assert all((record.vote_weight is not None) == vote for record in alternation)


@pytest.mark.parametrize(("hidden", "low", "high"), [(0.0, 0.0, 0.02), (1.0, 0.05, 1.0)])
def test_neighbours_weigh_as_much_as_they_tell_what_a_view_hides(hidden, low, high, blobs):
    torch.manual_seed(0)
    x, classes = samples(blobs), torch.tensor(blobs[1])
    x = x + 2 * torch.randn_like(x)
    mates = (classes[:, None] == classes).float().multinomial(6)
    trainer = BareTrainer(
        make_fabric("cpu"),
        Identity(),
        settings(200, warmup_epochs=2, epochs=1),
        seed=0,
        augment=lambda x: x + hidden * torch.randn_like(x),
    )
    trainer.train(x, MIADMMethod(4, 6), classes, alike(mates))
    assert low <= trainer.history[-1].vote_weight < high


def test_the_weight_is_measured_on_some_samples_the_same_every_time(blobs, monkeypatch):
    monkeypatch.setitem(votes.VOTES, "polled", 50)
    torch.manual_seed(12)
    seen, weights = [], []

    def augment(x):
        if not torch.is_grad_enabled():
            seen.append(x)
            return x + torch.randn_like(x)
        return x

    monkeypatch.setattr(IF, "vote_weight", lambda *rows: weights.append(rows[2]) or 0.5)
    method, x = MIADMMethod(4, 6), samples(blobs)
    options = settings(200, warmup_epochs=0, epochs=2, learning_rate=0.0)
    trainer = BareTrainer(make_fabric("cpu"), Identity(), options, seed=0, augment=augment)
    neighbors = alike(torch.arange(200)[:, None].roll(1, 0))
    trainer.train(x, method, torch.tensor(blobs[1]), neighbors)
    assert [len(part) for part in seen] == [50] * len(seen)
    assert len(seen) > 1
    assert all(torch.equal(part, seen[0]) for part in seen)
    torch.testing.assert_close(weights[0], weights[1])


def test_alternation_ends_when_the_targets_stand_still(blobs):
    x = samples(blobs)
    trainer = BareTrainer(make_fabric("cpu"), Identity(), settings(200, epochs=500), seed=0)
    trainer.train(x, MIADMMethod(4, 6), torch.tensor(blobs[1]))
    alternation = [record for record in trainer.history if record.phase == "alternate"]
    assert 150 <= len(alternation) < 500  # the learning rate rises for 150 epochs
    assert alternation[-1].delta_q < MIADMMethod.tolerance
    assert all(record.delta_q >= MIADMMethod.tolerance for record in alternation[149:-1])


def test_targets_that_stand_still_for_want_of_a_learning_rate_end_nothing(blobs):
    x = samples(blobs)
    options = settings(200, warmup_epochs=0, epochs=40, learning_rate=1e-8)
    for slug in ("mi-adm", "dec", "sr-kmeans"):
        trainer = BareTrainer(make_fabric("cpu"), dense_autoencoder(6, 8), options, seed=0)
        trainer.train(x, METHODS[slug].load()(4, 8), torch.tensor(blobs[1]))
        assert len(trainer.history) == 12


def test_pretraining_stops_by_held_out_samples():
    x = torch.randn(60, 4)
    options = {"pretrain_epochs": 200, "pretrain_patience": 3, "pretrain_learning_rate": 0.05}
    paper = resolve_settings("paper", 60, **options)
    trainer = BareTrainer(make_fabric("cpu"), dense_autoencoder(4, 1), paper, seed=0)
    trainer.pretrain(x)
    assert 3 < len(trainer.history) < 200


def test_pretraining_keeps_the_weights_of_the_best_held_out_loss(monkeypatch):
    x = torch.randn(60, 4)
    options = {"pretrain_epochs": 200, "pretrain_patience": 3, "pretrain_learning_rate": 0.05}
    losses, given = [], []

    def watched(*args):
        given[:] = args
        losses.append(mean_loss(*args))
        return losses[-1]

    monkeypatch.setattr(trainer_module, "mean_loss", watched)
    settings = resolve_settings("paper", 60, **options)
    trainer = BareTrainer(make_fabric("cpu"), dense_autoencoder(4, 1), settings, seed=0)
    trainer.pretrain(x)
    best = min(losses)
    assert losses[-1] > best
    assert mean_loss(*given) == pytest.approx(best)


@pytest.mark.parametrize(
    ("n", "expected"), [(11_000, 30), (1_000, 120), (70_000, 10), (1_000_000, 2)]
)
def test_more_samples_need_fewer_epochs(n, expected):
    assert settings(n).pretrain_epochs == expected


def test_a_warm_up_is_as_long_as_the_samples_that_it_trains_on_need():
    few = settings(20_000, embedded=True, shape=(16,))
    many, of_a_selection = (
        settings(5_000_000, embedded=True, shape=(16,), n_selected=n) for n in (None, 20_000)
    )
    assert of_a_selection.warmup_epochs == few.warmup_epochs == 30
    assert many.warmup_epochs == many.epochs == of_a_selection.epochs == 2


def test_larger_images_need_more_of_the_budget():
    epochs = [
        resolve_settings("fast", 10_000, (1, side, side)).pretrain_epochs for side in (16, 28, 64)
    ]
    assert epochs == [66, 31, 10]  # of 16 x 16 pixels the images count, not the pixels


def test_augmented_images_are_worth_more_epochs():
    plain, augmented = (
        resolve_settings("fast", 10_000, (1, 28, 28), augment=augment) for augment in (False, True)
    )
    assert augmented == replace(plain, epochs=33)
    assert plain.epochs == 13
    assert resolve_settings("fast", 70_000, (1, 28, 28), augment=True).epochs == 10


def test_training_in_half_precision_works(blobs):
    x = samples(blobs)
    network = dense_autoencoder(6, 8)
    trainer = BareTrainer(
        make_fabric("cpu", "bf16-mixed"),
        network,
        settings(200, pretrain_epochs=5, epochs=3),
        seed=0,
        augment=torch.clone,
    )
    trainer.pretrain(x)
    method = MIADMMethod(4, 8)
    neighbors = alike(torch.arange(200)[:, None].roll(1, 0))
    trainer.train(x, method, torch.tensor(blobs[1]), neighbors)
    assert trainer.embed(x).dtype == torch.float32
    assert torch.isfinite(method(trainer.embed(x))).all()


class Slow(MIADMMethod):
    """Predicts all but one group of the start, in the first epochs of the warm-up."""

    def warm(self, data):
        self.epochs = getattr(self, "epochs", 0) + 1

    def log_posteriors(self, z):
        labels = z[:, 0].long()
        seen = labels if getattr(self, "epochs", 0) > 3 else labels.clamp_max(self.n_clusters - 2)
        return F.one_hot(seen, self.n_clusters).float().clamp_min(1e-6).log()

    def loss(self, batch):
        return {"clustering": self.weight.square().sum()}


@pytest.mark.parametrize("n_clusters", [10, 100])
def test_the_warm_up_does_not_end_while_a_whole_cluster_is_missing(n_clusters):
    labels = torch.arange(1000) % n_clusters
    x = F.one_hot(torch.zeros(1000).long(), 6).float() * labels[:, None]
    options = settings(1000, warmup_epochs=10, epochs=0)
    assert options.warmup_agreement < 0.99  # which one of a hundred clusters would not be missed in
    trainer = BareTrainer(make_fabric("cpu"), Identity(), options, seed=0)
    trainer.train(x, Slow(n_clusters, 6), labels)
    assert len(trainer.history) == 4


@pytest.mark.parametrize(("agreement", "expected"), [(0.5, [1]), (1.01, range(51, 501))])
def test_the_warm_up_ends_at_the_wanted_agreement(agreement, expected, blobs):
    x = samples(blobs)
    options = settings(200, epochs=0, warmup_agreement=agreement)
    trainer = BareTrainer(make_fabric("cpu"), Identity(), options, seed=0)
    trainer.train(x, MIADMMethod(4, 6), torch.tensor(blobs[1]))
    assert len(trainer.history) in expected


def test_a_precision_that_was_asked_for_is_not_announced(caplog):
    with caplog.at_level("INFO"):
        make_fabric("cpu", "bf16-mixed")
    assert not caplog.records


@pytest.mark.parametrize(("copies", "epochs"), [(1, 6), (100, 1)])
def test_a_warm_up_of_few_steps_is_not_content_with_most_samples(copies, epochs, blobs):
    initial = torch.tensor(blobs[1])
    initial[0] = (initial[0] + 1) % 4  # what no line in the embedding can tell
    x, initial = samples(blobs).repeat(copies, 1), initial.repeat(copies)
    trainer = BareTrainer(
        make_fabric("cpu"),
        Identity(),
        settings(len(x), epochs=0, warmup_agreement=0.985, warmup_patience=5),
        seed=0,
    )
    trainer.train(x, METHODS["mi-adm"].load()(4, x.shape[1]), initial)
    assert len(trainer.history) == epochs


class Worse(Score):
    """A score that falls once training begins to alternate."""

    def __init__(self, after):
        super().__init__({}, {}, torch.arange(3))
        object.__setattr__(self, "given", iter([1.0, 1.0, *after]))

    def __call__(self, labels):
        return next(self.given, 0.0)


@pytest.mark.parametrize(("after", "expected"), [([0.5] * 9, -1), ([1.2, *[0.5] * 9], 0)])
def test_training_that_lowers_the_score_is_undone(blobs, after, expected):
    x = torch.tensor(blobs[0], dtype=torch.float32)
    options = resolve_settings("fast", len(x), warmup_epochs=1, epochs=3)
    trainer = BareTrainer(make_fabric("cpu"), dense_autoencoder(6, 2), options, seed=0)
    method = METHODS["mi-adm"].load()(4, 2)
    method.tolerance = 0.0
    trainer.model.method = method
    start = Start(torch.tensor(blobs[1]), score=Worse(after))
    trainer.cluster(feed(x), trainer.embed(x), start)
    assert trainer.history[-1].back_to == expected
    assert kept([record.as_dict() for record in trainer.history])["phase"] == (
        "warm-up" if expected < 0 else "alternate"
    )
