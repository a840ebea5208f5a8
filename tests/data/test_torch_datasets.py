import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, TensorDataset

from infomeans.data import open as open_samples
from infomeans.data.schema import ArraySchema, ImageSchema
from infomeans.errors import InputError


class Items(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, position):
        return self.items[position]


def test_tensors_with_and_without_a_label():
    x = torch.arange(24.0).reshape(4, 3, 2)
    for dataset in (TensorDataset(x), TensorDataset(x, torch.arange(4)), Items(list(x))):
        samples = open_samples(dataset)
        np.testing.assert_array_equal(samples.X, x)
        assert samples.ids == ["0", "1", "2", "3"]
        assert samples.schema == ArraySchema((3, 2))
    assert samples.source == "Items"


def test_arrays():
    X = np.random.default_rng(0).random((5, 3))
    np.testing.assert_array_equal(open_samples(Items([(x, "label") for x in X])).X, X)


def test_pillow_images_of_mixed_sizes_and_modes(grey, colour):
    images = [
        Image.fromarray(grey),
        Image.fromarray(colour),
        Image.fromarray(np.full((200, 240), 9, np.uint8)),
    ]
    samples = open_samples(Items([(image, 0) for image in images]), image_size=12)
    assert samples.X.shape == (3, 12, 12, 3)
    assert np.unique(samples.X[2]).tolist() == [9]
    assert samples.schema == ImageSchema(12, 12, 3, "uint8")
    assert open_samples(Items(images)).X.shape == (3, 10, 12, 3)


def test_items_that_differ_in_shape_are_refused():
    with pytest.raises(InputError, match=r"item 1 has the shape \(3,\), but item 0 has \(2,\)"):
        open_samples(Items([np.zeros(2), np.zeros(3)]))


def test_items_without_numbers_are_refused():
    with pytest.raises(InputError, match="values of type object"):
        open_samples(Items([[{"x": 1}], [{"x": 2}]]))


def test_a_dataset_without_items_is_refused():
    with pytest.raises(InputError, match="Items has no items"):
        open_samples(Items([]))


def test_an_error_of_the_dataset_itself_is_not_hidden():
    class Broken(Items):
        def __getitem__(self, position):
            raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        open_samples(Broken([1]))
