"""Export a model to ONNX, and run it with onnxruntime: a program without torch.

Needs `pip install 'infomeans[onnx]' onnxruntime`.
"""

import numpy as np
import onnxruntime
from sklearn.datasets import load_wine

from infomeans import MIADM
from infomeans.model.export import to_onnx

wines = load_wine().data  # 178 wines, 13 measurements
model = MIADM(n_clusters=3, pretrain_epochs=10, epochs=10, random_state=0).fit(wines)
to_onnx(model, "wines.onnx")

# The graph includes the scaling, so it takes samples as they were given to fit.
session = onnxruntime.InferenceSession("wines.onnx")
samples = wines.astype(np.float32)
embedding, posteriors = session.run(["embedding", "posteriors"], {"samples": samples})

print("embedding:", embedding.shape, " posteriors:", posteriors.shape)
same = posteriors.argmax(axis=1) == model.labels_
print(f"{same.mean():.1%} of the clusters are those of the model")
