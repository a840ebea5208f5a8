import pickle
import sys

import numpy as np
import pytest
from matplotlib import colors, pyplot
from matplotlib.figure import Figure

from infomeans.errors import InputError
from infomeans.plots.figures import clusters_figure, history_figure, map_figure, spread
from infomeans.plots.thumbnails import Tones


def record(phase, **known):
    names = ("loss", "reconstruction", "clustering", "mi", "h_k", "h_k_x", "delta_q")
    return {"phase": phase, "epoch": 0, **dict.fromkeys(names), "loss": 1.0, **known}


KNOWN = {"reconstruction": 0.5, "clustering": 0.5, "mi": 1.0, "h_k": 1.2, "h_k_x": 0.2}
HISTORY = [
    *[record("pretrain", reconstruction=1.0)] * 20,
    record("warm-up", **KNOWN),
    *[record("alternate", **KNOWN, delta_q=10.0**-at) for at in range(5)],
]


def words(figure):
    figure.draw_without_rendering()
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def boxes(figure):
    """Where the words lie once all is drawn."""
    figure.draw_without_rendering()
    return [text.get_window_extent() for ax in figure.axes for text in ax.texts]


def lines(figure):
    return [line.get_label() for ax in figure.axes for line in ax.get_lines()]


@pytest.fixture
def groups():
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.arange(12), 10)
    return rng.normal(size=(12, 5))[clusters] * 9 + rng.normal(size=(120, 5)), clusters


def test_figures_open_no_window_and_show_themselves_in_a_notebook(groups):
    sizes, sure = np.array([3, 4]), np.array([0.5, 1.0])
    for figure in (history_figure(HISTORY), map_figure(*groups), clusters_figure(sizes, sure)):
        assert isinstance(figure, Figure)
        assert figure._repr_png_().startswith(b"\x89PNG")
        assert isinstance(pickle.loads(pickle.dumps(figure)), Figure)  # noqa: S301
    assert pyplot.get_fignums() == []


def test_without_matplotlib_a_figure_says_how_to_get_it(groups, monkeypatch):
    monkeypatch.delitem(sys.modules, "infomeans.plots.canvas", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    sizes = np.array([1, 2])
    for draw in (
        lambda: history_figure(HISTORY),
        lambda: map_figure(*groups),
        lambda: clusters_figure(sizes, sizes),
        lambda: clusters_figure(sizes, sizes, np.zeros((2, 1, 4, 4))),
    ):
        with pytest.raises(ImportError, match=r"pip install 'infomeans\[plots\]'"):
            draw()


def test_a_history_shows_all_that_was_measured_and_names_the_phases():
    figure = history_figure(HISTORY)
    assert words(figure) == ["pretrain", "warm-up", "alternate"]
    assert {"reconstruction", "clustering", "I(X;K)", "H(K)", "H(K|X)"} <= {*lines(figure)}
    assert [ax.get_ylabel() for ax in figure.axes] == ["loss", "nats", "change of the targets"]
    assert figure.axes[-1].get_xlim() == (0.5, 26.5)
    assert figure.axes[-1].get_yscale() == "log"


def test_the_bands_of_the_phases_cover_all_epochs_once():
    for ax in history_figure(HISTORY).axes:
        bands = [(band.get_x(), band.get_x() + band.get_width()) for band in ax.patches]
        assert bands == [(0.5, 20.5), (20.5, 21.5), (21.5, 26.5)]


@pytest.mark.parametrize(("first", "second", "third"), [(120, 1, 29), (1, 1, 1), (300, 1, 1)])
def test_the_names_of_short_phases_do_not_overlap(first, second, third):
    parts = (("pretrain", first), ("warm-up", second), ("alternate", third))
    figure = history_figure([record(phase, **KNOWN) for phase, n in parts for _ in range(n)])
    one, two, three = boxes(figure)
    assert not any(a.overlaps(b) for a, b in ((one, two), (two, three), (one, three)))


def test_what_no_epoch_knows_is_left_out():
    figure = history_figure([record("pretrain", reconstruction=1.0)])
    assert len(figure.axes) == 1
    assert lines(figure) == ["total loss", "reconstruction"]
    figure.draw_without_rendering()
    inside = [tick for tick in figure.axes[0].get_xticks() if 0.5 < tick < 1.5]
    assert inside == [1]


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_strange_numbers_leave_a_gap(value):
    assert history_figure([*HISTORY, record("alternate", delta_q=value)])._repr_png_()
    assert history_figure([record("alternate", delta_q=value)])._repr_png_()


def test_an_empty_history_is_named_as_the_reason():
    with pytest.raises(InputError, match="not trained in epochs"):
        history_figure([])


def test_a_history_of_nothing_finite_is_named_as_the_reason():
    with pytest.raises(InputError, match="no finite values"):
        history_figure([record("pretrain", loss=float("nan"))])


def test_a_map_gives_every_cluster_its_own_look(groups):
    (ax,) = map_figure(*groups, "lda").axes
    looks = [
        (colors.to_hex(dots.get_facecolor()[0]), dots.get_paths()[0].vertices.tobytes())
        for dots in ax.collections
    ]
    assert len({*looks}) == 12
    assert looks[0][0] == looks[10][0]
    assert looks[0][1] != looks[10][1]
    assert sum(len(dots.get_offsets()) for dots in ax.collections) == 120


def test_a_map_has_numbers_and_the_projection_but_no_axes(groups):
    figure = map_figure(*groups, "pca")
    *numbers, caption = words(figure)
    assert numbers == [str(cluster) for cluster in range(12)]
    assert caption == "principal components"
    (ax,) = figure.axes
    assert (ax.get_xlabel(), ax.get_ylabel(), [*ax.get_xticks()]) == ("", "", [])


def test_numbers_of_clusters_in_one_place_stay_readable():
    rng = np.random.default_rng(0)
    clusters = np.arange(1000) % 40
    *numbers, _ = boxes(map_figure(rng.normal(size=(1000, 3)), clusters, "pca"))
    assert not any(a.overlaps(b) for at, a in enumerate(numbers) for b in numbers[:at])


def test_what_does_not_overlap_stays_in_its_place():
    middles = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])
    np.testing.assert_allclose(spread(middles, np.array([1.0, 1.0])), middles, atol=0.01)


def test_a_map_of_one_cluster_or_of_one_place_can_be_drawn():
    z = np.random.default_rng(0).normal(size=(20, 3))
    assert map_figure(z, np.zeros(20, dtype=int))._repr_png_()
    assert map_figure(z * 0, np.arange(20) % 2)._repr_png_()


def test_an_unknown_projection_is_refused(groups):
    with pytest.raises(InputError, match="choose one of"):
        map_figure(*groups, "magic")


@pytest.mark.parametrize("k", [1, 2, 10, 100])
def test_every_cluster_has_one_panel_with_its_picture_size_and_share(k):
    prototypes = np.random.default_rng(0).random((k, 1, 8, 6))
    figure = clusters_figure(np.full(k, 30), np.full(k, 0.75), prototypes)
    assert len(figure.axes) == k
    assert all(len(ax.images) == 1 for ax in figure.axes)
    said = [text.get_text() for text in figure.axes[-1].texts]
    assert said[0] == str(k - 1)
    share = {1: "100 %", 2: "50 %", 10: "10 %", 100: "1.0 %"}[k]
    assert said[1].split("\n") == [f"30, {share}", "confidence 0.750"]


@pytest.mark.parametrize(("k", "most"), [(2, 0), (2, 8), (10, 0), (10, 8), (50, 0)])
def test_panels_and_their_words_lie_apart_and_inside(k, most):
    rng = np.random.default_rng(0)
    samples = [rng.random((most, 1, 8, 8)) for _ in range(k)] if most else None
    figure = clusters_figure(np.full(k, 700), np.full(k, 0.5), rng.random((k, 1, 8, 8)), samples)
    places = [ax.get_window_extent() for ax in figure.axes] + boxes(figure)
    x0, y0, x1, y1 = np.array([box.extents for box in places]).T
    assert min(x0.min(), y0.min()) >= 0
    assert x1.max() <= figure.bbox.width
    assert y1.max() <= figure.bbox.height
    wide = np.minimum(x1[:, None], x1) - np.maximum(x0[:, None], x0)
    high = np.minimum(y1[:, None], y1) - np.maximum(y0[:, None], y0)
    # One pixel is the space between letters.
    assert ((wide > 1) & (high > 1)).sum() == len(places)


def test_with_samples_a_panel_shows_them_after_the_prototype():
    prototypes, rng = np.zeros((3, 1, 8, 8)), np.random.default_rng(0)
    samples = [rng.random((count, 1, 8, 8)) for count in (4, 2, 0)]
    figure = clusters_figure(np.array([9, 2, 0]), np.array([1, 0.5, np.nan]), prototypes, samples)
    assert [len(ax.images) for ax in figure.axes] == [5, 3, 0]
    assert "no samples" in words(figure)
    assert "2 samples, 18 %, mean confidence 0.500" in words(figure)
    alone = clusters_figure(np.array([9, 2, 0]), np.array([1, 0.5, np.nan]), None, samples)
    assert [len(ax.images) for ax in alone.axes] == [4, 2, 0]


def test_pictures_are_painted_in_the_tones_given():
    images = np.full((1, 1, 8, 8), 0.5)
    figure = clusters_figure(
        np.array([1]), np.array([1.0]), images, tones=Tones(np.array([0.0, 1]))
    )
    assert np.unique(figure.axes[0].images[0].get_array()).tolist() == [128]
    colour = clusters_figure(np.array([1]), np.array([1.0]), np.zeros((1, 3, 8, 8)))
    assert colour.axes[0].images[0].get_array().shape == (8, 8, 3)


@pytest.mark.parametrize("k", [2, 10, 100])
def test_vectors_have_bars_as_high_as_the_clusters_and_coloured_by_confidence(k):
    sizes = np.arange(k) + 1
    figure = clusters_figure(sizes, np.linspace(0, 1, k))
    bars = figure.axes[0].patches
    assert [bar.get_height() for bar in bars] == sizes.tolist()
    assert len({bar.get_facecolor() for bar in bars}) == k
    assert figure.axes[1].get_ylabel() == "mean confidence"
    assert figure._repr_png_()


def test_an_empty_cluster_has_no_bar():
    figure = clusters_figure(np.array([0, 5]), np.array([np.nan, 1.0]))
    assert [bar.get_height() for bar in figure.axes[0].patches] == [0, 5]
