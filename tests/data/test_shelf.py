import pytest
import torch

from infomeans.data.memory import Memory
from infomeans.data.shelf import Shelf


def blocks(n=10, size=3, width=4):
    return torch.arange(n * width, dtype=torch.float32).reshape(n, width).split(size)


@pytest.mark.parametrize("limit", [None, 10, 10**6])
def test_rows_are_the_same_in_memory_and_in_files(limit, tmp_path):
    shelf = Shelf(Memory(limit, tmp_path))
    rows = shelf.rows(iter(blocks()), 10)
    assert shelf.n_mapped == (limit == 10)
    shelf.release()
    torch.testing.assert_close(rows, torch.cat(blocks()))
    rows[2] = -1.0
    shelf.release()
    assert (rows[2] == -1).all()


def test_files_are_gone_with_their_tensors(tmp_path):
    shelf = Shelf(Memory(10, tmp_path))
    rows = shelf.rows(iter(blocks()), 10)
    assert shelf.n_mapped == 1
    assert not list(tmp_path.iterdir())
    del rows
    assert shelf.n_mapped == 0


def test_tensors_that_come_together_are_judged_one_by_one():
    shelf = Shelf(Memory(8000))  # an eighth of it is more than the narrow one, not the wide one
    pairs = ((block, block[:, :1].double()) for block in blocks(n=100))
    wide, narrow = shelf.columns(pairs, 100)
    assert shelf.n_mapped == 1
    assert narrow.dtype == torch.float64
    torch.testing.assert_close(narrow[:, 0], wide[:, 0].double())
