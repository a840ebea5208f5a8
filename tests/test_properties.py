"""Whatever the input: finite probabilities that sum to one, or a ValueError."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from infomeans import MIADM, GraphBaseline, KMeansBaseline
from infomeans import functional as IF

TYPES = ["f2", "f4", "f8", "g", ">f8", "i1", "i8", "u1", "u2", "u8", "?", "c16", "O", "U3", "M8[s]"]
EXTREMES = [0.0, -0.0, 1e-310, 1e-300, 1.0, -1.0, 1e6, 1e38, -1e200, 1e300, 1.7e308, -1.7e308]
NOT_FINITE = [np.nan, np.inf, -np.inf]
QUICK = {"pretrain_epochs": 1, "warmup_epochs": 1, "epochs": 1, "random_state": 0}


@st.composite
def layouts(draw, X):
    """The same samples in another layout: read-only, Fortran-ordered, reversed or with gaps."""
    kind = draw(st.sampled_from(["plain", "read-only", "fortran", "reversed", "gaps", "list"]))
    if kind == "read-only":
        X = X.copy()
        X.setflags(write=False)
    elif kind == "fortran":
        X = np.asfortranarray(X)
    elif kind == "reversed":
        X = X[::-1]
    elif kind == "gaps":
        X = np.repeat(X, 2, axis=0)[::2]
    return X.tolist() if kind == "list" else X


@st.composite
def samples(draw, shape):
    """Samples of this shape, or of one nearby, of any type and with any values."""
    n = draw(st.integers(0, 12))
    if draw(st.integers(0, 4)) == 0:
        shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
    shape = (n, *shape)
    seed = draw(st.integers(0, 2**32 - 1))
    X = np.random.default_rng(seed).normal(size=shape)
    values = draw(st.sampled_from([EXTREMES, EXTREMES, EXTREMES + NOT_FINITE]))
    for value in draw(st.lists(st.sampled_from(values), max_size=4)) if X.size else ():
        X.flat[draw(st.integers(0, X.size - 1))] = value
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = X.astype(draw(st.sampled_from(["f8", "f8", *TYPES])))
    return draw(layouts(X))


rng = np.random.default_rng(0)
VECTORS, IMAGES = rng.normal(size=(40, 3)), rng.random((30, 8, 8))


@pytest.fixture(scope="module")
def models():
    makes = [
        KMeansBaseline(3, random_state=0),
        GraphBaseline(3),
        MIADM(3, **QUICK),
    ]
    return [make.fit(X) for X in (VECTORS, IMAGES) for make in map(cloned, makes)]


def cloned(model):
    return type(model)(**model.get_params())


def asked(call, X):
    """What a call says; None if it refuses the samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(X)
        except ValueError:
            return None


def check_answers(model, X):
    """Everything that a model says of samples is finite."""
    posteriors = asked(model.predict_proba, X)
    if posteriors is not None:
        assert np.isfinite(posteriors).all()
        np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-4)
    for call in (model.predict, model.transform, model.outlier_score, model.score):
        found = asked(call, X)
        assert (found is None) == (posteriors is None), call
        assert found is None or np.isfinite(found).all(), call


@settings(max_examples=60)
@given(st.data())
def test_predictions_are_finite_or_refused(models, data):
    at = data.draw(st.integers(0, len(models) - 1))
    check_answers(models[at], data.draw(samples(models[at].model_.shape)))


@settings(max_examples=60)
@given(st.data())
def test_baselines_fit_or_refuse(data):
    X = data.draw(samples(data.draw(st.sampled_from([(1,), (3,), (3, 3)]))))
    model = data.draw(st.sampled_from([KMeansBaseline, GraphBaseline]))(
        data.draw(st.integers(1, 4)), random_state=0
    )
    if asked(model.fit, X) is not None:
        assert np.isfinite(model.embedding_).all()
        assert np.isfinite(model.outlier_scores_).all()
        check_answers(model, X)


@settings(max_examples=5)
@given(st.data())
def test_a_method_fits_or_refuses(data):
    X = data.draw(samples((3,)))
    model = MIADM(2, network=None, **QUICK)
    if asked(model.fit, X) is not None:
        check_answers(model, X)


NUMBERS = st.sampled_from([0.0, 1e-300, 1e-30, 1e-3, 1.0, 7.0, -1e3, 1e6, -1e6])


@st.composite
def matrices(draw):
    n, k, d = (draw(st.integers(1, 5)) for _ in range(3))
    z, prototypes = (
        torch.tensor(draw(hnp.arrays("f8", shape, elements=NUMBERS))) for shape in ((n, d), (k, d))
    )
    return z, prototypes


@given(matrices(), st.sampled_from([1e-12, 1e-3, 1.0, 1e6]))
def test_soft_assignments_are_probabilities(given, temperature):
    z, prototypes = given
    for log_p in (
        IF.log_softmin(z, prototypes, temperature),
        IF.log_student(z, prototypes),
    ):
        q = [log_p.exp(), IF.exact_targets(log_p, 2.0, max_rounds=20)]
        log_s = log_p.logsumexp(dim=0)
        for weight in (IF.mi_adm_weight, IF.depict_weight, IF.dec_weight):
            q.append(IF.weighted_targets(log_p, 2.0, weight(log_s)))
        for one in q:
            assert one.isfinite().all()
            torch.testing.assert_close(one.sum(dim=1), torch.ones(len(z), dtype=one.dtype))
        assert -1e-9 <= IF.mutual_information(q[0]) <= np.log(len(prototypes)) + 1e-9


@given(hnp.arrays("f8", st.integers(1, 5), elements=st.sampled_from([0.0, 1e-300, 1.0, 1e6])))
def test_learned_shares_are_probabilities(mass):
    shares = IF.learned_shares(torch.tensor(mass))
    if mass.sum() > 0:
        assert shares.isfinite().all()
        assert shares.sum().item() == pytest.approx(1)
