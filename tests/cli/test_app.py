import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from infomeans.cli import app

BIN = Path(sys.executable).parent


def test_help_works_without_torch():
    code = (
        "import sys; from infomeans.cli import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        "assert not {'torch', 'sklearn', 'numpy'} & set(sys.modules), 'heavy imports'"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "demo" in result.stdout


def test_the_installed_command_lists_the_methods():
    result = subprocess.run([BIN / "infomeans", "methods"], capture_output=True, text=True)
    assert result.returncode == 0
    for slug in ("mi-adm", "sr-kmeans", "depict", "mi-d", "dec", "dcn", "kmeans", "graph"):
        assert slug in result.stdout


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.output.startswith("infomeans ")


def test_help_of_every_command_shows_an_example():
    for name in (
        *("demo", "cluster", "predict", "evaluate", "show", "export", "methods"),
        *("report", "relabel", "compare"),
    ):
        result = CliRunner().invoke(app, [name, "--help"])
        assert f"Example: infomeans {name}" in result.output


def test_help_has_a_short_name_everywhere():
    for command in ([], ["cluster"], ["benchmark", "adm"]):
        assert CliRunner().invoke(app, [*command, "-h"]).exit_code == 0
