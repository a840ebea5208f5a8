import pytest

from infomeans.data.framing import best_fit, common_size

LANDSCAPE, PORTRAIT, WIDE = (4000, 3000), (3000, 4000), (4000, 2250)


def chosen(sizes):
    return best_fit(sizes, common_size(sizes))


@pytest.mark.parametrize(
    "sizes",
    [
        [(30, 20)] * 9,
        [(3000, 2000), (300, 200), (301, 200), (299, 210)],
        [LANDSCAPE] * 40 + [PORTRAIT] * 2,
    ],
)
def test_images_of_one_shape_are_stretched(sizes):
    assert chosen(sizes) == "stretch"
    assert best_fit(sizes, (32, 32)) == "stretch"


@pytest.mark.parametrize(
    "sizes",
    [
        [LANDSCAPE] * 8 + [PORTRAIT] * 2,
        [LANDSCAPE] * 5 + [PORTRAIT] * 5,
        [LANDSCAPE] * 5 + [PORTRAIT] * 5 + [WIDE] * 3 + [(500, 500), (700, 300), (200, 601)],
    ],
)
def test_photos_are_cropped(sizes):
    assert chosen(sizes) == "crop"


def test_cut_outs_of_all_shapes_are_padded():
    assert chosen([(100, 40 + 7 * i) for i in range(20)]) == "pad"


def test_where_a_crop_would_lose_more_than_half_images_are_padded():
    assert best_fit([(400, 80), (80, 400)] * 5, (64, 64)) == "pad"
