import importlib.util
from pathlib import Path

import numpy as np
import pytest

from tests.processes.launching import torchrun

SCRIPT = Path(__file__).with_name("together.py")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("together") / "results.npz"
    done = torchrun(str(SCRIPT), str(out))
    assert done.returncode == 0, done.stderr
    spec = importlib.util.spec_from_file_location("together", SCRIPT)
    together = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(together)
    with np.load(out) as file:
        return together.alone(), dict(file)


@pytest.mark.parametrize(
    "slug", ["mi-adm", "sr-kmeans", "depict", "mi-d", "mi-pairs", "dec", "dcn"]
)
def test_two_processes_train_as_one_on_the_same_batches(results, slug):
    one, two = ({n: v for n, v in each.items() if n.startswith(slug + " ")} for each in results)
    assert one.keys() == two.keys()
    for name in one:
        np.testing.assert_allclose(two[name], one[name], rtol=2e-3, atol=2e-4, err_msg=name)


def test_all_processes_refuse_what_one_refuses(results):
    _, two = results
    assert str(two["other data"]) == "Not 1."
    assert "invalid literal" in str(two["first fails"])


def test_parts_of_different_lengths_are_gathered_in_order(results):
    np.testing.assert_array_equal(results[1]["gathered"], [0, 1, 0, 1, 2])
