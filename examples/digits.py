"""Cluster scikit-learn's handwritten digits and draw what came out.

pip install matplotlib
python examples/digits.py clusters.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from infomeans import MIADM
from infomeans.metrics import scores

PER_ROW = 16


def draw(images: np.ndarray, posteriors: np.ndarray, path: str) -> None:
    """One row per cluster: its surest samples, then its most doubtful ones."""
    labels, confidence = posteriors.argmax(axis=1), posteriors.max(axis=1)
    k = posteriors.shape[1]
    figure, axes = plt.subplots(k, PER_ROW + 1, figsize=(9, 5.8))
    for axis in axes.flat:
        axis.axis("off")
    for cluster, row in enumerate(axes):
        members = np.flatnonzero(labels == cluster)
        members = members[np.argsort(-confidence[members], kind="stable")]
        half = PER_ROW // 2
        shown = [*members[:half], None, *members[half:][-half:]]
        for axis, index in zip(row, shown, strict=False):
            if index is not None:
                axis.imshow(images[index], cmap="gray_r")
        row[0].text(
            -0.35, 0.5, f"{cluster}: {len(members)}", transform=row[0].transAxes,
            ha="right", va="center", fontsize=9,
        )  # fmt: skip
    axes[0][half // 2].set_title("surest", fontsize=10)
    axes[0][half + 1 + half // 2].set_title("most doubtful", fontsize=10)
    figure.savefig(path, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    digits = load_digits()
    model = MIADM(n_clusters=10, random_state=0, verbose=1).fit(digits.images)
    print(scores(digits.target, model.labels_))
    draw(digits.images, model.predict_proba(digits.images), sys.argv[1])
