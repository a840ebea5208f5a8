import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infomeans.errors import InputError
from infomeans.naming import Names
from infomeans.runs import Run

CONFIG = {
    "versions": {"infomeans": "1"},
    "arguments": {"n_clusters": 4},
    "data": {"fingerprint": "f"},
    "created": "today",
}
POSTERIORS = np.array(
    [[0.7, 0.1, 0.1, 0.1], [0.1, 0.6, 0.2, 0.1], [0.4, 0.3, 0.3, 0.0], [0.0, 0.0, 0.0, 1.0]]
)


@pytest.fixture
def run(tmp_path):
    made = Run.create(tmp_path / "run", CONFIG)
    made.write_results(["a", "b", "c", "d"], POSTERIORS, np.eye(4), {"mi": 1.0}, parquet=True)
    return made


@pytest.fixture
def write(tmp_path):
    def write(content):
        path = tmp_path / "names.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


def test_merged_clusters_keep_the_smallest_number_and_add_up(run, write):
    run.rename(run.read_names(write({"names": {"2": "birds"}, "merge": [[2, 1]]})))
    labels = Run(run.path).labels
    assert labels.clusters.tolist() == [0, 1, 0, 3]
    assert labels.names == ["0", "birds", "0", "3"]
    assert labels.confidences == pytest.approx([0.7, 0.8, 0.4, 1.0])
    assert labels.entropies[3] == 0
    assert labels.entropies[1] == pytest.approx(-(0.8 * np.log(0.8) + 0.2 * np.log(0.1)))
    assert pq.read_table(run.path / "labels.parquet").to_pydict()["name"] == labels.names
    assert Run(run.path).names.of(1) == "birds"


def test_an_empty_file_takes_everything_back(run, write):
    before = (run.path / "labels.csv").read_bytes()
    run.rename(run.read_names(write({"names": {"0": "cats"}, "merge": [[0, 3]]})))
    assert (run.path / "labels.csv").read_bytes() != before
    run.rename(run.read_names(write({})))
    assert (run.path / "labels.csv").read_bytes() == before
    assert not (run.path / "names.json").exists()


def test_names_of_merged_clusters_are_put_together(run, write):
    names = run.read_names(write({"names": {"3": "b", "0": "a", "1": "a"}, "merge": [[0, 1, 3]]}))
    assert names.of(0) == "a + b"
    assert names.named(0) == "a + b (0)"


def test_names_of_merged_clusters_do_not_double_when_they_are_read_again(run, write):
    run.rename(run.read_names(write({"names": {"0": "boots + shoes"}, "merge": [[0, 1]]})))
    for _ in range(3):
        run.rename(Run(run.path).names)
    assert set(Run(run.path).labels.names) == {"boots + shoes", "3"}


texts = st.lists(st.sampled_from(["boots", "shoes", " + ", "+", " ", "\n", "é"]), max_size=6)
clusters = st.integers(0, 9)


@given(
    st.dictionaries(clusters.map(str), st.one_of(texts.map("".join), st.text())),
    st.lists(st.tuples(clusters, st.integers(0, 3)), unique_by=lambda pair: pair[0]),
)
def test_what_is_written_is_what_was_read(named, placed):
    groups = {group: [c for c, other in placed if other == group] for _, group in placed}
    first = Names._from_json({"names": named, "merge": list(groups.values())})
    second = Names._from_json(json.loads(json.dumps(first.to_json())))
    assert second == first
    assert [second.of(c) for c in range(10)] == [first.of(c) for c in range(10)]
    for cluster in named.keys() - {str(c) for c, _ in placed}:
        assert first.of(int(cluster)) == (" ".join(named[cluster].split()) or cluster)


def test_names_are_applied_to_what_the_model_found_not_on_top_of_each_other(run, write):
    for content in ({"merge": [[0, 1]]}, {"merge": [[2, 3]]}):
        run.rename(run.read_names(write(content)))
    assert run.labels.clusters.tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "not JSON"),
        ([1], "not a file of cluster names"),
        ({"names": {"x": "a"}}, "not a file of cluster names"),
        ({"names": {"0": 5}}, "not a file of cluster names"),
        ({"merge": [0, 1]}, "not a file of cluster names"),
        ({"merge": [[0, "1"]]}, "not a file of cluster names"),
        ({"nombres": {}}, "not a file of cluster names"),
        ({"format": 2}, "not a file of cluster names"),
        ({"names": {"4": "a"}}, "cluster 4; the run has clusters 0 to 3"),
        ({"merge": [[0, -1]]}, "cluster -1"),
        ({"merge": [[0, 1], [1, 2]]}, "merges cluster 1 twice"),
        ({"run": "another", "names": {}}, "another run"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(run, write, content, why):
    before = (run.path / "labels.csv").read_bytes()
    with pytest.raises(InputError, match=why):
        run.read_names(write(content))
    assert (run.path / "labels.csv").read_bytes() == before
    assert not (run.path / "names.json").exists()


def test_a_file_comes_back_from_json():
    names = Names({1: "a", 0: "<b>"}, ((2, 3),), "key")
    assert Names._from_json(json.loads(json.dumps(names.to_json()))) == names
