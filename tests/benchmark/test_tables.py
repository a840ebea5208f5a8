import json
import re
from pathlib import Path

import pytest

from infomeans.benchmark import experiments, grid, link, tables
from infomeans.benchmark.results_file import Results

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def squeezed(text):
    """Without what makes columns straight."""
    return re.sub(" +", " ", re.sub("-{4,}", "---", text))


@pytest.fixture
def cells():
    rows = [
        {"dataset": d, "method": m, "seed": s, "augment": a, "acc": acc, "nmi": acc - 0.1}
        for d, m, s, a, acc in (
            ("mnist-test", "mi-adm", 0, False, 0.95),
            ("usps", "mi-adm", 0, False, 0.97),
            ("usps", "mi-adm", 1, False, 0.99),
            ("usps", "mi-adm", 2, False, 0.1),
            ("usps", "mi-adm", 2, False, 0.98),
            ("usps", "kmeans", 0, False, 0.5),
            ("usps", "mi-adm", 0, True, 1.0),
        )
    ]
    for row in rows[1:5]:
        row["start"] = {"acc": 0.96, "nmi": row["nmi"] + 0.01}
    return tables.collect(rows)


def test_a_cell_has_median_range_and_gap(cells):
    cell = cells["mi-adm", "usps", "acc"]
    assert cell.median == 0.98
    assert cell.gap == pytest.approx(0.001)
    assert cell.row() == ["0.980", "0.970-0.990", "0.979", "+0.001", "+0.0200"]
    assert cells["mi-adm", "usps", "nmi"].row()[-1] == "-0.0100"
    assert cells["kmeans", "usps", "acc"].row() == ["0.500", "one seed", "", "", ""]
    assert tables.Cell([0.5, 0.5001]).row()[1] == "0.500"


def test_markdown_has_a_table_for_each_data_set(cells):
    usps, mnist = tables.markdown(cells, ", augmented").split("### ")[1:]
    assert len({len(line) for line in usps.splitlines() if line.startswith("|")}) == 1
    title, _, head, _, *rows = squeezed(usps).splitlines()
    assert title == "USPS, augmented"
    assert head == "| | ACC | range | paper | gap | gain | NMI | range | paper | gap | gain |"
    assert [row.split(" | ")[0] for row in rows if row] == ["| mi-adm", "| kmeans"]
    assert rows[0].startswith("| mi-adm | **0.980** | 0.970-0.990 |")
    assert rows[1] == "| kmeans | 0.500 | one seed | | | | 0.400 | one seed | | | |"
    assert mnist.startswith("MNIST-test")
    assert "kmeans" not in mnist


def test_nothing_stands_under_paper_where_the_paper_says_nothing():
    row = {"dataset": "pendigits", "method": "mi-adm", "seed": 0, "augment": False}
    text = tables.markdown(tables.collect([{**row, "acc": 0.9, "nmi": 0.8}]))
    assert "| ACC | range | NMI | range |" in squeezed(text)


def test_a_part_of_a_data_set_has_its_title():
    assert tables.title("mnist-test-geometric") == "MNIST-test, geometric"


def test_latex_has_a_tabular_for_each_data_set(cells):
    text = tables.latex(cells)
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == 2
    usps = text.split("% ")[2]
    assert "USPS & ACC & range & paper & gap & gain & NMI & range & paper & gap & gain \\\\" in usps
    assert (
        "mi-adm & 0.980 & 0.970--0.990 & 0.979 & +0.001 & +0.0200"
        " & 0.880 & 0.870--0.890 & 0.948 & $-$0.068 & $-$0.0100" in usps
    )
    assert "kmeans & 0.500 & one seed &  &  &  & 0.400 & one seed &  &  &  \\\\" in usps


@pytest.mark.skipif(not RESULTS.exists(), reason="a source distribution has no results in it")
def test_the_tables_at_hand_are_those_of_the_lines_at_hand(tmp_path):
    def lines(name):
        return Results(RESULTS / f"{name}.jsonl")

    grid.render(lines("results"), tmp_path)
    experiments.write_adm(experiments.adm_lines(RESULTS), lines("adm-times"), tmp_path)
    experiments.write_lambda(lines("lambda"), tmp_path)
    link.write_link(lines("link"), tmp_path)
    made = [path for path in tmp_path.iterdir() if path.suffix != ".png"]
    assert len(made) == 7
    for path in made:
        assert path.read_text() == (RESULTS / path.name).read_text(), path.name


@pytest.mark.skipif(not RESULTS.exists(), reason="a source distribution has no results in it")
@pytest.mark.parametrize("name", ["results", "adm", "lambda"])
def test_every_line_at_hand_says_where_it_comes_from(name):
    for row in Results(RESULTS / f"{name}.jsonl").rows():
        assert {"seed", "load1", "peak_mb", "seconds", "pretrain_seconds"} <= row.keys()
        assert re.fullmatch("[0-9a-f]{7,}", row["commit"]), json.dumps(row)[:200]
