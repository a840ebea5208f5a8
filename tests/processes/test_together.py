import numpy as np
import pytest

from infomeans.methods import METHODS
from tests import forking
from tests.processes import together
from tests.processes.launching import Pair


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("together") / "results.npz"
    said = out.with_name("said")
    assert Pair(together.main, out, output=said).ended() == [0, 0], said.read_text()
    with np.load(out) as file:
        return together.alone(), dict(file)


@forking.forks
@pytest.mark.parametrize("slug", METHODS)
def test_two_processes_train_as_one_on_the_same_batches(results, slug):
    one, two = ({n: v for n, v in each.items() if n.startswith(slug + " ")} for each in results)
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_allclose(two[name], one[name], rtol=2e-3, atol=2e-4, err_msg=name)


@forking.forks
def test_all_processes_refuse_what_one_refuses(results):
    _, two = results
    assert str(two["other data"]) == "Not 1."
    assert "invalid literal" in str(two["first fails"])


@forking.forks
def test_parts_of_different_lengths_are_gathered_in_order(results):
    np.testing.assert_array_equal(results[1]["gathered"], [0, 1, 0, 1, 2])
