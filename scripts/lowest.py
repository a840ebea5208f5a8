"""Print the lowest version of every dependency that pyproject.toml allows, as pip constraints.

    python scripts/lowest.py [name=version ...]

A version on the command line replaces the declared one, for machines that cannot install it.
"""

import re
import sys
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
# What the package imports, and what its tests import; linters and documentation tools are neither.
EXTRAS = ("hdf5", "onnx", "plots", "scale", "test")
BOUND = re.compile(r"(?P<name>[A-Za-z0-9._-]+)>=(?P<version>[0-9.]+)")


def lowest(pyproject: Path = PYPROJECT) -> dict[str, str]:
    """The lowest version of each dependency, by name."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = [*project["dependencies"], *(line for name in EXTRAS for line in extras[name])]
    bounds = map(BOUND.match, requirements)
    return {bound["name"]: bound["version"] for bound in bounds if bound}


if __name__ == "__main__":
    replaced = dict(argument.split("=", 1) for argument in sys.argv[1:])
    for name, version in {**lowest(), **replaced}.items():
        print(f"{name}=={version}")
