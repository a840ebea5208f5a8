"""Cluster the rows of a pandas frame whose columns have different units."""

import pandas as pd
from sklearn.datasets import load_wine

from infomeans import MIADM

wine = load_wine(as_frame=True)
frame = wine.data  # 178 wines: alcohol in percent, magnesium in mg/l, proline up to 1,680, ...
print(frame.agg(["mean", "std"]).T.head(), "\n")

# Every column is standardised, so no unit counts for more than another.
# The scaling is part of the model: predict takes rows in the same units.
model = MIADM(n_clusters=3, pretrain_epochs=20, epochs=10, random_state=0).fit(frame)

# Which cluster each row belongs to, and how sure the model is.
result = frame.assign(
    cluster=model.labels_,
    confidence=model.predict_proba(frame).max(axis=1),
)
print(result.groupby("cluster")[["alcohol", "magnesium", "proline", "confidence"]].mean(), "\n")

# The growers of the wines are known here, so the clusters can be checked.
print(pd.crosstab(wine.target.rename("grower"), result["cluster"]))
