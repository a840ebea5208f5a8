import numpy as np
import pytest
import torch

from infomeans.data import Dataset
from infomeans.data.rows import ArrayRows
from infomeans.data.schema import ArraySchema
from infomeans.errors import InputError


def samples(X, ids, source="here"):
    rows = ArrayRows(np.asarray(X))
    return Dataset(rows, ids, ArraySchema(np.shape(X)[1:]), source).check_finite()


def test_the_length_is_the_number_of_samples():
    assert len(samples([[1, 2], [3, 4], [5, 6]], ["a", "b", "c"])) == 3


def test_ids_must_be_unique():
    with pytest.raises(InputError, match="here: the id 'a' occurs 2 times"):
        samples([[1.0], [2.0], [3.0]], ["a", "b", "a"])


def test_values_must_be_finite():
    with pytest.raises(InputError, match="NaN or infinity in the samples b, c;"):
        samples([[1.0], [np.nan], [np.inf]], ["a", "b", "c"])


def test_the_fingerprint_tells_values_shape_type_and_ids_apart():
    X = np.arange(6, dtype=np.uint8).reshape(3, 2)
    variants = [
        samples(X, ["a", "b", "c"]),
        samples(X + 1, ["a", "b", "c"]),
        samples(X.reshape(3, 2, 1), ["a", "b", "c"]),
        samples(X.view(np.int8), ["a", "b", "c"]),
        samples(X, ["a", "b", "d"]),
        samples(X, ["a", 'b", "c', ""]),
    ]
    assert len({variant.fingerprint for variant in variants}) == len(variants)


def test_the_fingerprint_does_not_depend_on_the_memory_layout():
    X = np.arange(6.0).reshape(3, 2)
    names = ["a", "b", "c"]
    assert samples(X, names).fingerprint == samples(np.asfortranarray(X), names).fingerprint
    assert len(samples(X, names).fingerprint) == 64


def test_samples_are_prepared_in_parts_which_keeps_copies_small():
    rows, sizes = ArrayRows(np.zeros((40_000, 2), np.float32)), []

    def prepare(samples):
        sizes.append(len(samples))
        return torch.tensor(samples)

    assert len(rows.feed(prepare)) == 40_000
    assert max(sizes) < 20_000
