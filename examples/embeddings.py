"""Cluster embeddings that another model has computed, of texts or pictures for example.

Here a few hundred random vectors around 6 directions stand for them.
"""

import numpy as np

from infomeans import MIADM
from infomeans.metrics import scores

rng = np.random.default_rng(0)
topics = rng.normal(size=(6, 64))
truth = rng.integers(6, size=600)
embeddings = topics[truth] + rng.normal(scale=1.5, size=(600, 64))

# "residual" starts from the embeddings as they are and moves them, so that clusters part.
# The features are not standardised one by one: their relative spread means something.
moved = MIADM(n_clusters=6, network="residual", epochs=10, random_state=0).fit(embeddings)
print("network='residual'", scores(truth, moved.labels_))

# None leaves the embeddings alone and only learns the clusters on them.
head = MIADM(n_clusters=6, network=None, epochs=10, random_state=0).fit(embeddings)
print("network=None      ", scores(truth, head.labels_))

# The embeddings after training, for a map or a search index.
print("moved embeddings: ", moved.transform(embeddings).shape)
