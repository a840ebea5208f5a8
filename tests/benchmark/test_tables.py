import pytest

from infomeans.benchmark import tables


@pytest.fixture
def cells():
    rows = [
        {"dataset": d, "method": m, "augment": a, "acc": acc, "nmi": acc - 0.1}
        for d, m, a, acc in (
            ("mnist-test", "mi-adm", False, 0.95),
            ("usps", "mi-adm", False, 0.97),
            ("usps", "mi-adm", False, 0.99),
            ("usps", "mi-adm", False, 0.98),
            ("usps", "kmeans", False, 0.5),
            ("usps", "mi-adm", True, 1.0),
        )
    ]
    return tables.collect(rows)


def test_a_cell_has_median_range_and_gap(cells):
    cell = cells["mi-adm", "usps", "acc"]
    assert cell.median == 0.98
    assert cell.gap == pytest.approx(0.001)
    assert cell.row() == ["0.980", "0.970-0.990", "0.979", "+0.001"]
    assert cells["kmeans", "usps", "acc"].row() == ["0.500", "one seed", "", ""]


def test_markdown_has_a_table_for_each_data_set(cells):
    usps, mnist = tables.markdown(cells).split("### ")[1:]
    title, _, head, _, *rows = usps.splitlines()
    assert title == "USPS"
    assert head == "|  | ACC | range | paper | gap | NMI | range | paper | gap |"
    assert [row.split(" | ")[0] for row in rows if row] == ["| mi-adm", "| kmeans"]
    assert rows[1] == "| kmeans | **0.500** | one seed |  |  | **0.400** | one seed |  |  |"
    assert mnist.startswith("MNIST-test")
    assert "kmeans" not in mnist


def test_nothing_stands_under_paper_where_the_paper_says_nothing():
    row = {"dataset": "pendigits", "method": "mi-adm", "augment": False, "acc": 0.9, "nmi": 0.8}
    assert "| ACC | range | NMI | range |" in tables.markdown(tables.collect([row]))


def test_latex_has_a_tabular_for_each_data_set(cells):
    text = tables.latex(cells)
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == 2
    usps = text.split("% ")[2]
    assert "USPS & ACC & range & paper & gap & NMI & range & paper & gap \\\\" in usps
    assert (
        "mi-adm & 0.980 & 0.970--0.990 & 0.979 & +0.001 & 0.880 & 0.870--0.890 & 0.948 & $-$0.068"
        in usps
    )
    assert "kmeans & 0.500 & one seed &  &  & 0.400 & one seed &  &  \\\\" in usps
