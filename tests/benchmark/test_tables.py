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
    assert cell.markdown() == "**0.980** (0.970-0.990); paper 0.979, +0.001"
    assert cells["kmeans", "usps", "acc"].markdown() == "**0.500** (one seed)"
    assert cells["kmeans", "usps", "acc"].gap is None


def test_markdown_has_a_row_for_each_method(cells):
    head, _, *rows = tables.markdown(cells).splitlines()
    assert head == "| | USPS ACC | USPS NMI | MNIST-test ACC | MNIST-test NMI |"
    assert [row.split(" | ")[0] for row in rows] == ["| mi-adm", "| kmeans"]
    assert rows[1].endswith("|  |  |")


def test_latex_is_a_tabular(cells):
    text = tables.latex(cells)
    assert text.startswith("\\begin{tabular}{lllll}")
    assert "kmeans & 0.500 \\tiny one seed & 0.400 \\tiny one seed & -- & -- \\\\" in text
