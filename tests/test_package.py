import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from scripts.lowest import lowest

import infomeans
from tests import forking

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
UNIX_ONLY = ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty", "syslog", "readline")


def test_public_names_are_all_there():
    for name in infomeans.__all__:
        assert getattr(infomeans, name) is not None
    assert set(infomeans.__all__) <= set(dir(infomeans))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'KMeans'"):
        _ = infomeans.KMeans


def test_importing_the_package_does_not_import_torch():
    code = "import sys, infomeans, infomeans.methods; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_every_estimator_of_the_registry_is_public():
    assert {*infomeans.methods.ESTIMATORS} <= {*infomeans.__all__}


def import_all():
    """Import every module anew; what other packages have imported is theirs."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "infomeans"]:
        del sys.modules[name]
    sys.modules.update(dict.fromkeys(UNIX_ONLY))
    package = importlib.import_module("infomeans")
    for module in pkgutil.walk_packages(package.__path__, "infomeans."):
        importlib.import_module(module.name)
        sys.stdout.write(f"{module.name}\n")


@forking.forks
def test_the_package_imports_where_there_is_no_unix(tmp_path):
    said = tmp_path / "said"
    assert forking.ended(forking.start(import_all, output=said)) == 0, said.read_text()
    names = said.read_text().split()
    assert {"infomeans.cli.app", "infomeans.benchmark.machine"} <= {*names}


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert infomeans.__version__ == version("infomeans") == PROJECT["version"]
    assert re.findall(r"^version: (.+)$", citation, flags=re.MULTILINE) == [PROJECT["version"]]
    assert re.search(r"^## (\S+?),? ", changelog, flags=re.MULTILINE)[1] == PROJECT["version"]


def test_every_dependency_has_a_lowest_version_and_a_pinned_one():
    extras = PROJECT["optional-dependencies"]
    wanted = [*PROJECT["dependencies"], *(line for extra in extras.values() for line in extra)]
    names = {re.match(r"[\w.-]+", line)[0] for line in wanted} - {"infomeans"}
    assert [line for line in wanted if ">=" not in line and "infomeans[" not in line] == []
    assert {*lowest()} <= names
    assert {line.partition(">=")[0] for line in PROJECT["dependencies"]} <= {*lowest()}
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert names <= {*re.findall(r"^(\S+)==", constraints, flags=re.MULTILINE)}


def test_a_lowest_version_can_be_replaced():
    command = [sys.executable, ROOT / "scripts" / "lowest.py", "torch=2.99"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "torch==2.99" in printed
    assert len(printed) == len(lowest())
