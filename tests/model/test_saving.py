import hashlib
import json
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save
from sklearn.base import clone
from torch import nn

import infomeans
from infomeans import (
    DCN,
    DEC,
    DEPICT,
    MIADM,
    MID,
    Autoencoder,
    GraphBaseline,
    KMeansBaseline,
    SRKMeans,
)
from infomeans.errors import InputError
from infomeans.files import json_hash
from infomeans.functional import affine

GAINED = ("method.tau", "method.components", "strangeness.")
DEEP = [MIADM, SRKMeans, DEPICT, MID, DEC, DCN]
QUICK = {"init": "graph", "pretrain_epochs": 2, "warmup_epochs": 1, "epochs": 2, "random_state": 0}


def forge(path, tensors=None, without=(), **changes):
    """Change a saved model, with hashes that fit, as a stranger might."""
    description = json.loads((path / "model.json").read_text())
    description = {n: v for n, v in description.items() if n not in ("sha256", *without)}
    description |= changes
    if tensors is not None:
        packed = save(tensors)
        name = hashlib.sha256(packed).hexdigest()[:16] + ".safetensors"
        (path / name).write_bytes(packed)
        description["weights"] = name
    description["sha256"] = json_hash(description)
    (path / "model.json").write_text(json.dumps(description))


def weights_of(path):
    return path / json.loads((path / "model.json").read_text())["weights"]


def saved(model, path):
    model.save(path)
    return infomeans.load(path)


@pytest.fixture(scope="module")
def vectors(blobs):
    """A model of vectors; to be left as it is."""
    return MIADM(4, **QUICK).fit(blobs[0])


@pytest.fixture(scope="module")
def fewer(blobs):
    """A model of the same vectors with three clusters."""
    return MIADM(3, **QUICK).fit(blobs[0])


@pytest.mark.parametrize(
    ("cls", "kind"),
    [
        *((cls, "vectors") for cls in DEEP),
        *((MIADM, kind) for kind in ("images", "embeddings", "moved")),
    ],
)
def test_a_loaded_model_is_the_same_model(cls, kind, stripes, blobs, tmp_path):
    X = stripes[0] if kind == "images" else blobs[0]
    network = {"embeddings": None, "moved": "residual"}.get(kind, "auto")
    model = cls(3, network=network, **QUICK).fit(X)
    loaded = saved(model, tmp_path / "model")
    assert type(loaded) is cls
    assert loaded.get_params() == model.get_params()
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(loaded.transform(X), model.transform(X))
    assert np.array_equal(loaded.outlier_score(X), model.outlier_score(X))
    for name in ("labels_", "initial_labels_", "cluster_centers_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name))
    assert loaded.history_ == model.history_


def test_the_views_of_an_augmented_model_belong_to_it(stripes, tmp_path, monkeypatch):
    model = MIADM(3, augment=True, **QUICK).fit(stripes[0])
    posteriors = model.predict_proba(stripes[0])
    monkeypatch.setitem(affine.LIMITS, "degrees", 40.0)
    loaded = saved(model, tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(stripes[0]), posteriors)
    model.set_params(augment=False)
    np.testing.assert_array_equal(model.predict_proba(stripes[0]), posteriors)
    assert model.fit(stripes[0]).views_.shape == (0, 2, 3)


@pytest.mark.parametrize(
    "baseline",
    [KMeansBaseline(3, random_state=0), GraphBaseline(3), GraphBaseline(3, augment=True)],
)
def test_baselines_are_saved_too(baseline, stripes, tmp_path):
    images, _ = stripes
    model = clone(baseline).fit(images)
    loaded = saved(model, tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(images), model.predict_proba(images))


def test_an_autoencoder_is_saved(stripes, tmp_path):
    images, _ = stripes
    model = Autoencoder(4, epochs=2, random_state=0).fit(images)
    assert np.array_equal(
        saved(model, tmp_path / "model").transform(images), model.transform(images)
    )


def test_a_given_autoencoder_needs_no_help_to_be_loaded(stripes, tmp_path):
    images, _ = stripes
    network = Autoencoder(4, epochs=2, random_state=0).fit(images).network_
    model = MIADM(3, network=network, **QUICK).fit(images)
    loaded = saved(model, tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(images), model.predict_proba(images))


def test_a_network_of_the_users_own_is_asked_for(blobs, tmp_path):
    X, _ = blobs
    network = nn.Sequential(nn.Linear(6, 5), nn.Tanh())
    model = MIADM(4, network=network, **QUICK).fit(X)
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="network="):
        infomeans.load(tmp_path / "model")
    loaded = infomeans.load(tmp_path / "model", network=nn.Sequential(nn.Linear(6, 5), nn.Tanh()))
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))


@pytest.fixture(scope="module")
def own(blobs):
    """A model with a network of the user's own."""
    network = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4))
    return MIADM(4, network=network, **QUICK).fit(blobs[0])


@pytest.mark.parametrize(
    ("layers", "said"),
    [
        ([nn.Linear(6, 5)], r"only in the file: 2\.bias, 2\.weight; pass"),
        (
            [nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4), nn.PReLU()],
            r"only in the module: 3\.weight; pass",
        ),
        (
            [nn.Linear(6, 9), nn.Tanh(), nn.Linear(9, 4)],
            r"of another shape: 0\.weight \(9, 6\) instead of \(5, 6\), 0\.bias \(9,\) instead of "
            r"\(5,\), 2\.weight \(4, 9\) instead of \(4, 5\); pass",
        ),
        ([nn.Linear(6, 5, bias=False), nn.Linear(5, 4)], r"only in .*2.* only in the module: 1\."),
    ],
)
def test_a_module_that_does_not_fit_the_weights_is_told_where(own, tmp_path, layers, said):
    own.save(tmp_path / "model")
    with pytest.raises(InputError, match=said) as caught:
        infomeans.load(tmp_path / "model", network=nn.Sequential(*layers))
    assert "network=" in str(caught.value)
    assert "same architecture" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_of_ours_that_do_not_fit_are_named(vectors, tmp_path):
    vectors.save(tmp_path / "model")
    tensors = load_file(weights_of(tmp_path / "model"))
    gone = next(name for name in tensors if name.startswith("network.") and name.endswith("weight"))
    del tensors[gone]
    forge(tmp_path / "model", tensors)
    with pytest.raises(InputError, match=gone.removeprefix("network.")):
        infomeans.load(tmp_path / "model")


def test_a_clusterer_of_the_users_own_is_asked_for(blobs, tmp_path):
    class Mine(MIADM):
        pass

    X, _ = blobs
    model = Mine(4, **QUICK).fit(X)
    model.save(tmp_path / "model")
    with pytest.raises(InputError, match="estimator="):
        infomeans.load(tmp_path / "model")
    assert isinstance(infomeans.load(tmp_path / "model", estimator=Mine), Mine)


def test_parameters_of_all_kinds_come_back(blobs, tmp_path):
    X, classes = blobs
    params = {"init": classes, "sizes": (1, 1, 2, 2), "lam": np.float64(0.1), "epochs": np.int64(2)}
    model = MIADM(4, **{**QUICK, **params}).fit(X)
    loaded = saved(model, tmp_path / "model")
    assert np.array_equal(loaded.init, classes)
    assert loaded.sizes == [1, 1, 2, 2]
    assert loaded.lam == 0.1
    assert np.array_equal(loaded.fit(X).labels_, model.labels_)


def test_names_of_columns_come_back(blobs, tmp_path):
    X = pd.DataFrame(blobs[0], columns=list("abcdef"))
    loaded = saved(MIADM(4, **QUICK).fit(X), tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(X.rename(columns={"a": "z"}))


def test_a_model_is_not_overwritten_unasked(fewer, vectors, tmp_path):
    fewer.save(tmp_path / "model")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        vectors.save(tmp_path / "model")
    assert infomeans.load(tmp_path / "model").n_clusters == 3
    vectors.save(tmp_path / "model", overwrite=True)
    assert infomeans.load(tmp_path / "model").n_clusters == 4
    assert len(list((tmp_path / "model").iterdir())) == 2


@pytest.mark.parametrize(
    ("model", "change"),
    [
        (SRKMeans(4, **QUICK), {"lam": 1.0}),
        (MIADM(4, **QUICK), {"n_clusters": 5}),
        (GraphBaseline(4), {"n_neighbors": 30}),
    ],
)
def test_a_model_is_saved_as_it_was_fitted(model, change, blobs, tmp_path):
    X, _ = blobs
    posteriors = model.fit(X).predict_proba(X)
    loaded = saved(model.set_params(**change), tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), posteriors)


def test_a_folder_that_is_no_model_is_never_overwritten(vectors, tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(FileExistsError, match="holds no model"):
        vectors.save(tmp_path, overwrite=True)


def test_a_crash_while_saving_leaves_the_old_model(blobs, fewer, tmp_path, monkeypatch):
    X, _ = blobs
    second = MIADM(4, **QUICK).fit(X[:, :5])
    fewer.save(tmp_path / "model")
    write = infomeans.model.folder.write_atomic

    def crash(path, content):
        if path.name == "model.json":
            raise OSError("No space left on device")
        write(path, content)

    monkeypatch.setattr("infomeans.model.folder.write_atomic", crash)
    with pytest.raises(OSError, match="No space"):
        second.save(tmp_path / "model", overwrite=True)
    assert np.array_equal(infomeans.load(tmp_path / "model").labels_, fewer.labels_)
    assert infomeans.data.open(X, like=tmp_path / "model").schema.sample_shape == (6,)


def test_tensors_that_are_not_its_own_stay(blobs, tmp_path):
    model = MIADM(4, checkpoint=tmp_path / "state.safetensors", **QUICK).fit(blobs[0])
    with pytest.raises(FileExistsError, match="holds no model"):
        model.save(tmp_path, overwrite=True)
    kept = ["state-start.safetensors", "state.safetensors"]
    assert sorted(path.name for path in tmp_path.iterdir()) == kept
    other = tmp_path / "other"
    other.mkdir()
    (other / "input.json").write_text("mine")
    with pytest.raises(FileExistsError, match="holds no model"):
        model.save(other)


def test_a_model_of_the_first_format_is_read_and_replaced(vectors, blobs, tmp_path):
    X, path = blobs[0], tmp_path / "model"
    vectors.save(path)
    description = json.loads((path / "model.json").read_text())
    (path / "input.json").write_text(json.dumps(description.pop("input")))
    description["params"]["device"] = "cuda"
    del description["sha256"]
    (path / "model.json").write_text(json.dumps({**description, "format": 1}))
    assert infomeans.data.open(X, like=path).schema.sample_shape == (6,)
    loaded = infomeans.load(path)
    loaded.save(path, overwrite=True)
    assert sorted(p.suffix for p in path.iterdir()) == [".json", ".safetensors"]
    assert np.array_equal(infomeans.load(path).predict(X), loaded.predict(X))


def test_the_device_is_not_the_models(blobs, tmp_path):
    model = MIADM(4, device="cpu", **QUICK).fit(blobs[0])
    assert saved(model.set_params(device="cuda"), tmp_path / "model").device == "auto"


def test_what_a_broken_save_left_behind_is_no_reason_to_refuse(vectors, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "0123456789abcdef.safetensors").write_bytes(b"half")
    (tmp_path / "model" / ".model.json.1a2b").touch()
    vectors.save(tmp_path / "model")
    vectors.save(tmp_path / "model", overwrite=True)
    assert np.array_equal(infomeans.load(tmp_path / "model").labels_, vectors.labels_)
    assert (tmp_path / "model" / "0123456789abcdef.safetensors").exists()  # whose it is, who knows


def test_on_disk_are_json_and_safetensors_alone(vectors, tmp_path):
    vectors.save(tmp_path / "model")
    kinds = sorted(path.suffix for path in (tmp_path / "model").iterdir())
    assert kinds == [".json", ".safetensors"]
    for path in (tmp_path / "model").iterdir():
        if path.suffix == ".json":
            json.loads(path.read_text())
        else:
            load_file(path)


def test_a_parameter_that_cannot_be_saved_is_named(blobs, tmp_path):
    model = MIADM(4, sizes=pd.Series([1.0, 1.0, 2.0, 2.0]), **QUICK).fit(blobs[0])
    assert saved(model, tmp_path / "model").sizes == [1, 1, 2, 2]
    model._fitted_params["lam"] = {"a": 1}  # as a parameter of a user's own class might be
    with pytest.raises(TypeError, match="lam="):
        model.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_newer_format_is_refused(vectors, tmp_path):
    vectors.save(tmp_path / "model")
    forge(tmp_path / "model", format=99, infomeans="9.0")
    with pytest.raises(InputError, match=r"format 99 by infomeans 9\.0.*newer"):
        infomeans.load(tmp_path / "model")


def test_what_is_no_model_is_refused(vectors, tmp_path):
    with pytest.raises(InputError, match="not a saved model"):
        infomeans.load(tmp_path)
    vectors.save(tmp_path / "model")
    (weights,) = (tmp_path / "model").glob("*.safetensors")
    weights.write_bytes(b"nonsense")
    with pytest.raises(InputError, match="damaged"):
        infomeans.load(tmp_path / "model")
    weights.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        infomeans.load(tmp_path / "model")
    for text in ("[]", "[" * 100_000, "{", '{"format": 1}'):
        (tmp_path / "model" / "model.json").write_text(text)
        with pytest.raises(InputError, match=r"damaged|not the description of a model") as caught:
            infomeans.load(tmp_path / "model")
        assert "\n" not in str(caught.value)


def test_a_flipped_bit_is_noticed(vectors, tmp_path):
    vectors.save(tmp_path / "model")
    for file in (weights_of(tmp_path / "model"), tmp_path / "model" / "model.json"):
        whole = file.read_bytes()
        for place in range(7, len(whole), len(whole) // 9):
            file.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            with pytest.raises(InputError) as caught:
                infomeans.load(tmp_path / "model")
            assert str(tmp_path / "model") in str(caught.value)
        file.write_bytes(whole)
    infomeans.load(tmp_path / "model")


def test_weights_that_are_not_finite_are_refused(vectors, tmp_path):
    vectors.save(tmp_path / "model")
    tensors = load_file(weights_of(tmp_path / "model"))
    tensors["method.prototypes"][0, 0] = torch.nan
    forge(tmp_path / "model", tensors)
    with pytest.raises(InputError, match=r"method\.prototypes has values that are not finite"):
        infomeans.load(tmp_path / "model")


@pytest.mark.parametrize("part", ["network", "fitted"])
def test_sizes_are_compared_before_memory_is_taken(part, vectors, tmp_path):
    vectors.save(tmp_path / "model")
    description = json.loads((tmp_path / "model" / "model.json").read_text())
    if part == "network":
        changed = {**description["network"], "shape": [10**12], "n_features": 10**9}
    else:
        changed = {**description["fitted"], "n_clusters": 10**12}
    forge(tmp_path / "model", **{part: changed})
    with pytest.raises(InputError, match="do not fit"):
        infomeans.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weights": "/etc/passwd"}, "outside its folder"),
        ({"weights": "../x.safetensors"}, "outside its folder"),
        ({"weights": None}, "not the description of a model"),
        ({"params": {"eval": "1"}}, "cannot be built"),
        ({"weights": ""}, "outside its folder"),
        ({"fitted": {}}, "cannot be built"),
        ({"network": {"kind": "magic"}}, "cannot be built"),
    ],
)
def test_a_strangers_model_is_looked_at_closely(changes, message, vectors, tmp_path):
    vectors.save(tmp_path / "model")
    forge(tmp_path / "model", **changes)
    with pytest.raises(InputError, match=message):
        infomeans.load(tmp_path / "model")


def test_models_of_earlier_versions_lack_what_was_gained_since(blobs, tmp_path):
    for model in (SRKMeans(4, **QUICK), GraphBaseline(4)):
        folder = tmp_path / type(model).__name__
        model.fit(blobs[0]).save(folder)
        tensors = load_file(weights_of(folder)).items()
        older = {n: t for n, t in tensors if not n.startswith(GAINED)}
        forge(folder, older)
        loaded = infomeans.load(folder)
        np.testing.assert_array_equal(loaded.predict(blobs[0]), model.labels_)
        with pytest.raises(InputError, match="earlier version"):
            loaded.outlier_score(blobs[0])


@pytest.mark.skipif(sys.platform == "win32", reason="no devices on Windows")
@pytest.mark.parametrize("file", ["model.json", "weights"])
def test_files_without_an_end_are_refused(file, blobs, tmp_path):
    KMeansBaseline(4).fit(blobs[0]).save(tmp_path / "model")
    name = json.loads((tmp_path / "model/model.json").read_text()).get(file, file)
    (tmp_path / "model" / name).unlink()
    (tmp_path / "model" / name).symlink_to("/dev/zero")
    with pytest.raises(InputError, match="is a device; only regular files are read"):
        infomeans.load(tmp_path / "model")
