import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from torch import nn

import infomeans
from infomeans import DCN, MIADM, GraphBaseline, KMeansBaseline

QUICK = {"init": "graph", "pretrain_epochs": 2, "warmup_epochs": 1, "epochs": 2, "random_state": 0}


def prototypes(model):
    return model.model_.decoded_centres(model.cluster_centers_)


@pytest.fixture(scope="module")
def images(stripes):
    return stripes[0]


@pytest.fixture(scope="module")
def model(images):
    return MIADM(3, **QUICK).fit(images)


@pytest.fixture(scope="module")
def trained(images):
    return MIADM(3, init="graph", pretrain_epochs=40, epochs=5, random_state=0).fit(images)


@pytest.fixture(scope="module")
def of_vectors(blobs):
    return MIADM(4, **QUICK).fit(blobs[0])


def loaded(model, path):
    model.save(path / "model")
    return infomeans.load(path / "model")


def shows_cards(html):
    return "samples, " in html


def diagram(html):
    return html[html.index("<style>") :]


@pytest.mark.parametrize(
    "estimator",
    [MIADM(3, **QUICK), DCN(3, **QUICK), KMeansBaseline(3, random_state=0), GraphBaseline(3)],
)
@pytest.mark.parametrize("kind", ["images", "vectors"])
def test_what_fit_saw_is_what_the_model_says_of_it(estimator, kind, images, blobs):
    X = images if kind == "images" else blobs[0]
    estimator.fit(X)
    posteriors = estimator.predict_proba(X)
    np.testing.assert_array_equal(estimator.labels_, estimator.predict(X))
    np.testing.assert_array_equal(estimator.confidences_, posteriors.max(axis=1))
    np.testing.assert_array_equal(estimator.embedding_, estimator.transform(X).reshape(len(X), -1))


def test_all_plots_are_figures_and_open_no_window(model, of_vectors, images):
    for fitted in (model, of_vectors):
        for figure in (fitted.plot_history(), fitted.plot_map(), fitted.plot_clusters()):
            assert isinstance(figure, Figure)
            assert figure._repr_png_().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == []


def test_the_plots_of_fit_and_of_the_same_samples_are_alike(model, images):
    ours, given = (
        figure.axes[0].collections for figure in (model.plot_map(), model.plot_map(images))
    )
    for dots, others in zip(ours, given, strict=True):
        np.testing.assert_array_equal(dots.get_offsets(), others.get_offsets())


def test_the_clusters_have_a_panel_each_and_typical_samples_if_given(trained, images):
    pictures = [len(ax.images) for ax in trained.plot_clusters().axes]
    assert pictures == [1, 1, 1]
    figure = trained.plot_clusters(images)
    assert [len(ax.images) for ax in figure.axes] == [9, 9, 9]
    for cluster, ax in enumerate(figure.axes):
        # The bright row of a typical sample is that of the cluster.
        brightest = images[trained.labels_ == cluster].mean(axis=0).mean(axis=1).argmax()
        for picture in ax.images[1:]:
            assert picture.get_array().mean(axis=1)[brightest] > 150


def test_other_samples_can_be_shown(model, images, of_vectors, blobs):
    figure = model.plot_clusters(images[:50])
    said = [
        text.get_text() for ax in figure.axes for text in ax.texts if "sample" in text.get_text()
    ]
    sizes = np.bincount(model.predict(images[:50]), minlength=3)
    assert [text.split(" ")[0] for text in said] == [str(size) if size else "no" for size in sizes]
    bars = of_vectors.plot_clusters(blobs[0][:30]).axes[0].patches
    assert sum(bar.get_height() for bar in bars) == 30


def test_images_in_every_layout_can_be_shown(images):
    colour = np.stack([images, 1 - images, images**2], axis=-1)
    for X in (colour, colour.transpose(0, 3, 1, 2)):
        figure = MIADM(3, **QUICK).fit(X).plot_clusters(X)
        assert figure.axes[0].images[0].get_array().shape == (9, 8, 3)


def test_before_fit_there_is_nothing_to_plot(images):
    for plot in ("plot_history", "plot_map", "plot_clusters"):
        with pytest.raises(NotFittedError):
            getattr(MIADM(3), plot)()


def test_a_loaded_model_asks_for_samples_but_knows_its_history(model, images, tmp_path):
    twin = loaded(model, tmp_path)
    assert not hasattr(twin, "embedding_")
    for plot in (twin.plot_map, twin.plot_clusters):
        with pytest.raises(ValueError, match="pass samples as X"):
            plot()
        assert isinstance(plot(images), Figure)
    assert isinstance(twin.plot_history(), Figure)


def test_a_loaded_model_shows_cards_without_confidences(model, tmp_path):
    html = loaded(model, tmp_path)._repr_html_()
    assert shows_cards(html)
    assert html.count("<img") == model._repr_html_().count("<img") > 0
    assert "mean confidence" in model._repr_html_()
    assert "mean confidence" not in html


def test_a_model_without_epochs_says_so(images):
    with pytest.raises(ValueError, match="not trained in epochs"):
        KMeansBaseline(3, random_state=0).fit(images).plot_history()


def test_a_notebook_shows_the_diagram_before_fit_and_cards_above_it_after(model):
    before, after = MIADM(3, **QUICK)._repr_html_(), model._repr_html_()
    assert not shows_cards(before)
    assert "MIADM" in diagram(before)
    assert after.index("3 clusters of 120 samples") < after.index("<style>")
    assert "MIADM" in diagram(after)
    assert f"I(X;K) = {model.history_[-1]['mi']:.3f}" in after
    assert model._repr_mimebundle_()["text/html"].startswith(after[: after.index("<style>")])
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_cards_tell_the_information_of_the_epoch_that_training_went_back_to(model, monkeypatch):
    history = [{"epoch": 0, "mi": 0.75}, {"epoch": 1, "mi": 0.25, "back_to": 0}]
    monkeypatch.setattr(model, "history_", history)
    assert "I(X;K) = 0.750" in model._repr_html_()


def test_text_is_shown_where_text_is_wanted(model):
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert [*model._repr_mimebundle_()] == ["text/plain"]


def test_parts_of_a_pipeline_can_still_be_drawn(model):
    assert "MIADM" in make_pipeline(model)._repr_html_()


def test_changed_parameters_do_not_disturb_what_was_fitted(images):
    model = MIADM(3, **QUICK).fit(images).set_params(n_clusters=7)
    assert "3 clusters of" in model._repr_html_()
    assert len(model.plot_clusters().axes) == 3


def test_prototypes_look_like_the_samples_of_their_clusters(trained, images):
    made = prototypes(trained)
    assert made.shape == (3, 1, 9, 8)
    means = np.stack([images[trained.labels_ == cluster].mean(axis=0) for cluster in range(3)])
    distances = np.abs(made - means[None, :, :, :]).mean(axis=(2, 3))
    assert distances.argmin(axis=1).tolist() == [0, 1, 2]
    assert distances.diagonal().max() < 0.2


def test_prototypes_are_in_the_units_of_the_data(images):
    model = KMeansBaseline(3, random_state=0).fit(1000 + 50 * images)
    for cluster, prototype in enumerate(prototypes(model)):
        mean = images[model.labels_ == cluster].mean(axis=0)
        np.testing.assert_allclose(prototype[0], 1000 + 50 * mean, atol=0.01)


def test_vectors_have_no_prototypes(of_vectors):
    assert prototypes(of_vectors) is None
    assert "<img" not in of_vectors._repr_html_()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(72, 4), nn.Tanh())

    def forward(self, x):
        return self.layers(x)


class Decoding(Encoder):
    def __init__(self):
        super().__init__()
        self.back = nn.Linear(4, 72)

    def decode(self, z):
        return self.back(z).unflatten(1, (1, 9, 8))


def test_a_network_of_the_users_own_is_shown_as_far_as_it_can_be(images):
    blind = MIADM(3, network=Encoder(), **QUICK).fit(images)
    assert prototypes(blind) is None
    assert "<img" not in blind._repr_html_()
    assert len(blind.plot_clusters(images).axes[0].images) == 8
    assert blind.plot_clusters().axes[0].patches
    seeing = MIADM(3, network=Decoding(), **QUICK).fit(images)
    assert prototypes(seeing).shape == (3, 1, 9, 8)
    assert [len(ax.images) for ax in seeing.plot_clusters().axes] == [1, 1, 1]


def test_constant_images_can_be_shown():
    model = KMeansBaseline(1, random_state=0).fit(np.full((5, 8, 8), 7.0))
    assert model.plot_clusters()._repr_png_()
    assert shows_cards(model._repr_html_())
