"""Save a model, load it again, and predict the clusters of new data."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

import infomeans

flowers, new_flowers = train_test_split(load_iris().data, random_state=0)

model = infomeans.MIADM(n_clusters=3, pretrain_epochs=20, epochs=10, random_state=0).fit(flowers)
model.save("iris-model", overwrite=True)  # a folder with JSON and safetensors; nothing is pickled

# Later, in another program:
model = infomeans.load("iris-model")
clusters = model.predict(new_flowers)
confidence = model.predict_proba(new_flowers).max(axis=1)

print("sizes of the clusters among new flowers:", np.bincount(clusters, minlength=3))
doubtful = confidence.argsort()[:3]
for flower, sure in zip(new_flowers[doubtful], confidence[doubtful], strict=True):
    print("doubtful:", flower, f"{sure:.0%}")
