import runpy
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "scripts" / "import_graph.py"


def script():
    return runpy.run_path(str(SCRIPT))


def test_the_drawing_in_the_docs_is_up_to_date():
    drawn = script()
    committed = drawn["DRAWING"].read_text(encoding="utf-8")
    assert drawn["drawing"]() == committed, "run: python scripts/import_graph.py"


def test_every_kind_of_import_is_found(tmp_path):
    package = tmp_path / "infomeans"
    for part in ("top", "middle", "low"):
        (package / part).mkdir(parents=True)
        (package / part / "__init__.py").touch()
    (package / "alone.py").write_text("import numpy\n")
    (package / "top" / "late.py").write_text(
        "from infomeans import low\ndef f():\n    import infomeans.middle.deep\n"
    )
    (package / "middle" / "deep.py").write_text("from infomeans.low import thing\n")
    drawn = script()
    graph = drawn["imports"](package)
    assert graph == {"alone": set(), "low": set(), "middle": {"low"}, "top": {"low", "middle"}}
    assert drawn["reduced"](graph)["top"] == {"middle"}
