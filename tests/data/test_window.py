import numpy as np
import pytest
import torch

from infomeans.data import rows as rows_module
from infomeans.data.memory import Memory
from infomeans.data.rows import ArrayRows, DecodedRows, LazyFeed, MappedRows, TensorFeed
from infomeans.data.window import Window
from infomeans.errors import InputError

N, BLOCK, SLOTS = 1000, 16, 8


class Counted(DecodedRows):
    """Slow rows whose value is their position; counts how often each is read."""

    def __init__(self, n=N):
        super().__init__(self._read, (n, 2), np.float32)
        self.reads = np.zeros(n, dtype=int)

    def _read(self, index):
        np.add.at(self.reads, index, 1)
        return np.stack([index, index], axis=1).astype(np.float32)


@pytest.fixture
def rows():
    return Counted()


@pytest.fixture
def window(rows):
    return Window(rows, BLOCK, SLOTS)


def drawn(window, seed=0, samples=None):
    torch.manual_seed(seed)
    return window.order(samples)


def test_an_order_is_a_permutation_and_depends_on_the_seed_alone(window):
    order = drawn(window)
    assert sorted(order.tolist()) == list(range(N))
    drawn(window, seed=1)
    np.testing.assert_array_equal(drawn(window), order)
    assert (drawn(window, seed=1) != order).any()


def test_the_order_of_a_part_visits_that_part(window):
    some = torch.arange(0, N, 3)
    order = drawn(window, samples=some)
    assert sorted(order.tolist()) == some.tolist()


def test_samples_are_mixed_within_a_window_and_windows_are_of_random_blocks(window):
    order = drawn(window)
    size = SLOTS * BLOCK
    for part in order.split(size)[:-1]:
        places = np.arange(len(part))
        assert abs(np.corrcoef(places, part)[0, 1]) < 0.3
        assert abs(np.corrcoef(places, part % BLOCK)[0, 1]) < 0.3
    # A window has blocks from everywhere, not those that follow each other.
    assert np.ptp(np.unique(order[:size] // BLOCK)) > N // BLOCK // 2
    # Neighbours in storage are not neighbours in the order.
    apart = (order[1:] - order[:-1]).abs()
    assert (apart == 1).float().mean() < 0.05


def test_a_window_of_all_samples_gives_the_order_of_samples_in_memory(rows):
    for samples in (None, torch.randperm(N, generator=torch.Generator().manual_seed(0))[:300]):
        torch.manual_seed(3)
        expected = TensorFeed(torch.zeros(N, 1)).order(samples)
        order = drawn(Window(rows, BLOCK, 100), seed=3, samples=samples)
        np.testing.assert_array_equal(order, expected)


@pytest.mark.parametrize("batch", [10, 64, 300])
def test_every_block_is_read_once_in_an_epoch(window, rows, batch):
    for epoch in range(1, 4):
        order = drawn(window, seed=epoch)
        for index in order.split(batch):
            np.testing.assert_array_equal(window.batch(index.numpy())[:, 0], index)
        # What is left from the epoch before is not read again.
        assert window.reads <= epoch * window.n_blocks
        assert rows.reads.max() <= epoch
    assert window._held.shape[0] <= SLOTS * BLOCK


def test_a_batch_of_other_samples_does_not_empty_the_window(window, rows):
    order, rng = drawn(window), np.random.default_rng(0)
    for index in order.split(50):
        others = rng.integers(N, size=50)
        window.batch(index.numpy())
        np.testing.assert_array_equal(window.batch(others)[:, 0], others)
    assert window.reads == window.n_blocks


def test_samples_that_are_held_out_are_read_without_the_window(window):
    trained, held_out = torch.arange(0, 900), torch.arange(900, N)
    drawn(window, samples=trained)
    np.testing.assert_array_equal(window.batch(held_out.numpy())[:, 0], held_out)
    assert window.reads == 0


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(rows_module, "BLOCK", BLOCK)


def as_tensor(samples):
    return torch.tensor(np.asarray(samples))


@pytest.mark.usefixtures("small_blocks")
def test_the_limit_decides_between_a_tensor_and_a_window(rows):
    whole = 8 * N
    assert isinstance(rows.feed(as_tensor, Memory(2 * whole)), TensorFeed)
    feed = rows.feed(as_tensor, Memory(2 * whole - 1))
    assert isinstance(feed, LazyFeed)
    # Half of the memory, rounded down to a power of two of blocks of 128 bytes.
    assert feed.window.slots == 32
    assert isinstance(rows.feed(as_tensor), TensorFeed)


@pytest.mark.usefixtures("small_blocks")
def test_samples_in_memory_are_picked_at_random_and_count(rows):
    array = ArrayRows(np.zeros((N, 2), dtype=np.float32))
    feed = array.feed(as_tensor, Memory(3 * array.held - 1))
    assert isinstance(feed, LazyFeed)
    assert feed.window is None
    torch.manual_seed(0)
    order = feed.order()
    torch.manual_seed(0)
    np.testing.assert_array_equal(order, torch.randperm(N))
    assert isinstance(array.feed(as_tensor, Memory(3 * array.held)), TensorFeed)


def test_too_little_memory_for_a_batch_says_how_much_is_needed():
    rows = DecodedRows(lambda index: np.zeros((len(index), 256)), (10_000, 256), float)
    with pytest.raises(InputError, match=r"1\.0 MiB, is too small: a batch of 1,024 .* 8\.0 MiB"):
        rows.feed(as_tensor, Memory(2**20))


def test_large_samples_have_small_blocks():
    rows = DecodedRows(np.zeros, (500, 2**20), np.uint8)
    assert rows.window(Memory(2**26)).block == 4
    assert rows.window(Memory(2**26)).slots == 8


def test_a_mapped_file_keeps_little_in_memory(tmp_path):
    array = np.arange(64_000, dtype=np.int64).reshape(1000, 64)
    np.save(tmp_path / "x.npy", array)
    mapped = MappedRows(np.load(tmp_path / "x.npy", mmap_mode="r"), keep=100_000)
    assert mapped.held == 0
    for first, block in zip(range(0, 1000, 100), mapped.blocks(100), strict=True):
        np.testing.assert_array_equal(block, array[first : first + 100])
        assert mapped.loaded <= 100_000
    some = np.array([999, 3, 500])
    np.testing.assert_array_equal(mapped.batch(some), array[some])
    assert not isinstance(mapped.batch(some), np.memmap)


def test_an_epoch_of_held_out_and_neighbours_ends_like_one_in_memory(rows):
    feed = LazyFeed(rows, as_tensor, Memory(8 * N))
    some = torch.tensor([5, 900, 17])
    np.testing.assert_array_equal(feed.batch(some)[:, 0], some)
    np.testing.assert_array_equal(torch.cat([*feed.blocks(64)])[:, 0], torch.arange(N))
    np.testing.assert_allclose(feed.mean(), [(N - 1) / 2] * 2)
