import subprocess
import sys

import pytest

import infomeans


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
