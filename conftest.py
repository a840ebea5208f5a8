"""What the tests and the examples in docstrings share."""

import pytest
import torch
from _pytest.doctest import DoctestItem


@pytest.fixture(autouse=True, scope="session")
def _few_threads():
    """Tiny networks are slower with several threads, and slower still on a busy machine."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _folder_of_its_own(request, monkeypatch):
    """An example in a docstring may write files."""
    if isinstance(request.node, DoctestItem):
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
