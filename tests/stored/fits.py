"""Small fits whose labels are stored: every method on images, vectors and embeddings.

`python -m tests.stored.fits` stores the labels anew, after a change that is meant to move them.
Say here why they moved:

- all images: they are 300, and were 600.
- MID images, MID vectors: the marginal comes from the noisy pass throughout (8249ff9).
- SRKMeans, all three: a soft minimum takes the place of |z|^2 in the loss (a346edc).
- MIADM, DEPICT, MID and DCN embeddings: changes to the warm-up, which returns to its
  best epoch (a346edc).
- MIADM, DEPICT and MID vectors: the initial sizes are uneven, so the shares are learned.
"""

import json
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import infomeans

FILE = Path(__file__).with_name("labels.json")
METHODS = ("MIADM", "SRKMeans", "DEPICT", "MID", "DEC", "DCN")
KINDS = ("images", "vectors", "embeddings")
EPOCHS = {"pretrain_epochs": 6, "warmup_epochs": 4, "epochs": 4}


def samples(kind):
    """Six hundred digits, or three hundred as images."""
    digits = load_digits()
    if kind == "images":
        return digits.images[:300]
    vectors = digits.data[:600]
    return PCA(12, random_state=0).fit_transform(vectors) if kind == "embeddings" else vectors


def fitted(method, kind, **params):
    """A short fit with one thread, from the graph on the embedding."""
    params |= {"init": "graph"}
    if kind == "embeddings":
        params |= {"network": "residual"}
    return getattr(infomeans, method)(10, random_state=0, **EPOCHS, **params).fit(samples(kind))


def stored():
    return json.loads(FILE.read_text())


def main():
    torch.set_num_threads(1)
    labels = {
        f"{method} {kind}": "".join(map(str, fitted(method, kind).labels_))
        for method in METHODS
        for kind in KINDS
    }
    FILE.write_text(json.dumps(labels, indent=0) + "\n")


if __name__ == "__main__":
    main()
