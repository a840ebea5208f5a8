"""Cluster images of handwritten digits, and compare the result with two baselines.

A deep method has to beat K-means and graph agglomeration on the raw pixels to be worth its time.
"""

from sklearn.datasets import load_digits

from infomeans import MIADM, GraphBaseline, KMeansBaseline
from infomeans.metrics import scores

digits = load_digits()
images, classes = digits.images[:400], digits.target[:400]  # a part, to be quick

models = [
    KMeansBaseline(n_clusters=10, random_state=0),
    GraphBaseline(n_clusters=10),
    # Fewer epochs than usual, also to be quick. Leave both arguments out for all 1,797 images.
    MIADM(n_clusters=10, pretrain_epochs=25, epochs=10, random_state=0),
]

print(f"{'model':<16} {'ACC':>6} {'NMI':>6} {'ARI':>6}")
for model in models:
    clusters = model.fit_predict(images)
    # The classes only score the result. No fit ever sees them.
    found = scores(classes, clusters)
    print(f"{type(model).__name__:<16} {found['acc']:6.3f} {found['nmi']:6.3f} {found['ari']:6.3f}")
