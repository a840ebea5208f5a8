import csv
import io

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from infomeans.data.cells import csv_text, guarded, unguarded

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
"""Any text without surrogates, which are no characters."""

ODD = st.text("=+-@\t\r\n'\"0,;.e ", max_size=6)


@given(st.lists(TEXTS | ODD, min_size=1))
@example(["'=1", "''=1", "'", "''", "-5", "'-5", "\r", "\r\n", "a\rb", "", "\ufeff"])
def test_any_text_is_read_as_it_was(texts):
    written = csv_text([[guarded(text), 1] for text in texts])
    read = [row[0] for row in csv.reader(io.StringIO(written, newline=""))]
    assert unguarded(pa.chunked_array([read], "string")).to_pylist() == texts


@given(TEXTS | ODD)
def test_no_cell_begins_like_a_formula_unless_it_is_a_number(text):
    cell = guarded(text)
    if cell[:1] in set("=+-@\t\r\n") - {""}:
        float(cell)


@pytest.mark.parametrize("text", ["-5", "+1.5e3", "-.5", "-1.", "'s", "a=b", "", "1-2"])
def test_harmless_texts_are_written_as_they_are(text):
    assert guarded(text) == text


@pytest.mark.parametrize("text", ["=1+1", "+cmd", "-x", "-5-3", "@sum", "\tx", "\rx", "'=1"])
def test_formulas_have_an_apostrophe(text):
    assert guarded(text) == "'" + text
