"""What a method tells the start of itself."""

import pytest

import infomeans
from infomeans.estimators import deep_clusterer
from infomeans.start.initial import LAM

NONE = {"pretrain_epochs": 0, "warmup_epochs": 0, "epochs": 0, "random_state": 0}


@pytest.mark.parametrize(
    ("name", "params", "expected"),
    [
        ("SRKMeans", {"lam": 0.02}, 0.02),
        ("MIADM", {"lam": 0.3}, 0.3),
        ("MID", {"lam": 0.3}, 0.3),
        ("MIADM", {}, LAM),
        # The weight of DCN's clustering term has the same name, and nothing else in common.
        ("DCN", {"lam": 1.0}, LAM),
    ],
)
def test_soft_kmeans_starts_with_the_lambda_of_eq_rmi(name, params, expected, blobs, monkeypatch):
    given, find_start = [], deep_clusterer.find_start

    def watched(*args, **options):
        given.append(options.get("lam"))
        return find_start(*args, **options)

    monkeypatch.setattr(deep_clusterer, "find_start", watched)
    getattr(infomeans, name)(4, init="soft_kmeans", **params, **NONE).fit(blobs[0])
    assert given == [expected]
