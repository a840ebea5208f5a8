"""Content of a report: facts, warnings, clusters, uncertain and strange samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from infomeans._typing import IntArray
from infomeans.data.files import printable
from infomeans.durations import duration
from infomeans.errors import by_reason
from infomeans.metrics import scored_on
from infomeans.problems import DISPUTED, run_problems, start_facts, training_problems, went_back
from infomeans.report.findings import Findings

TYPICAL, DOUBTFUL, STRANGE, PAIRS, PAIR_SAMPLES = 12, 60, 60, 12, 10
UNUSUAL = 0.95
"""Samples with a lower outlier score are not called strange."""

NO_DOUBT = 0.1
"""Entropy in nats of a sample with a confidence of 98%."""

UNSURE, MANY_UNSURE = 0.7, 0.3
"""Warn below this mean confidence, or above this share of samples with less than 0.5."""

MOVING = 1e-3
"""If the targets change by more in the last epoch (mean square), training had not converged."""


def overview(found: Findings) -> dict[str, Any]:
    """Facts, a summary for non-experts, and warnings."""
    run, metrics = found.run, found.run.metrics
    request, data = run.config["arguments"], run.config["data"]
    facts = {
        "data": short_name(data["source"]),
        "samples": _amount(len(found.ids), data["sample_shape"]),
        "method": run.method,
        "requested clusters": f"{found.k}",
        "seed": f"{request['seed']}",
        "time": duration(metrics["seconds"]),
        "mutual information": f"{metrics['mi']:.3f} of at most {math.log(found.k):.3f} nats",
        "mean confidence": f"{metrics['confidence']:.3f}",
    }
    if data["skipped"]:
        left_out = len(data["skipped"])
        plural = "" if left_out == 1 else "s"
        facts["left out"] = f"{left_out} image{plural}: {by_reason(data['skipped'])}"
    for name, title in (("acc", "accuracy"), ("nmi", "NMI"), ("ari", "ARI")):
        if name in metrics:
            facts[title] = f"{metrics[name]:.4f}"
    if on := scored_on(metrics.get("scored", len(found.ids)), len(found.ids)):
        facts["scored"] = on
    facts |= start_facts(metrics)
    facts["made"] = f"{run.config.get('created', '')[:10]}, infomeans "
    facts["made"] += run.config["versions"]["infomeans"]
    return {"facts": facts, "sentence": _sentence(found), "warnings": warnings(found)}


def warnings(found: Findings) -> list[str]:
    """Warnings about the result, for non-experts."""
    said = run_problems(found.sizes.tolist(), found.run.metrics)
    shares = found.sizes / len(found.ids)
    small = np.flatnonzero((found.sizes > 0) & (shares < min(0.01, 0.2 / found.k))).tolist()
    if small:
        said.append(
            f"{_clusters(small)} under {min(0.01, 0.2 / found.k):.1%} of the samples: perhaps "
            f"outliers rather than a group."
        )
    unsure = float((found.confidences < 0.5).mean())
    if found.confidences.mean() < UNSURE or unsure > MANY_UNSURE:
        said.append(
            f"The mean confidence is {found.confidences.mean():.2f}, and {unsure:.0%} of the "
            f"samples have less than 0.5: the clusters are not well separated."
        )
    return said + training_problems(found.run.history) + _about_training(found.run.history)


def _about_training(history: Sequence[Mapping[str, Any]]) -> list[str]:
    last = history[-1] if history else {}
    if last.get("back_to") is not None:
        return [went_back(last)]
    if (last.get("delta_q") or 0) <= MOVING:
        return []
    return [
        f"The targets still changed by {last['delta_q']:.1e} in the last epoch: training had not "
        f"converged. Use more epochs."
    ]


def _sentence(found: Findings) -> str:
    n, used = len(found.ids), int((found.sizes > 0).sum())
    sure = float((found.confidences >= 0.9).mean())
    sizes = found.sizes[found.sizes > 0]
    spread = (
        f"of {sizes[0]:,} samples each"
        if sizes.min() == sizes.max()
        else f"of {sizes.min():,} to {sizes.max():,} samples"
    )
    groups = "one group" if used == 1 else f"{used} groups {spread}"
    said = f"The {n:,} samples fall into {groups}. "
    stability = found.run.metrics.get("stability")
    if stability is not None:
        return f"{said}Other ways to find groups agree on {math.floor(100 * stability)}% of them."
    return said + (
        f"For {math.floor(100 * sure)}% of them the model is at least 90% sure. That shows how "
        f"clearly it separates the groups, not that they are the right ones."
    )


def cards(found: Findings) -> list[dict[str, Any]]:
    """Size, confidence, typical and uncertain samples of every cluster."""
    return [
        _card(found, cluster, samples[:TYPICAL]) for cluster, samples in enumerate(found.ranked)
    ]


def _card(found: Findings, cluster: int, typical: IntArray) -> dict[str, Any]:
    members = found.members(cluster)
    sure = found.confidences[members]
    stable = sure if found.stability is None else found.stability[members]
    doubtful = members[np.lexsort((sure, stable))]
    return {
        "size": len(members),
        "share": len(members) / len(found.ids),
        "confidence": float(sure.mean()) if len(members) else None,
        "typical": typical.tolist(),
        "doubtful": doubtful[:TYPICAL].tolist(),
    }


def doubtful(found: Findings) -> dict[str, Any]:
    """The samples in doubt, and the pairs of clusters between which the model is undecided."""
    stability = np.ones(len(found.ids)) if found.stability is None else found.stability
    order = np.lexsort((-found.entropies, stability))
    doubt = (stability[order] < DISPUTED) | (found.entropies[order] > NO_DOUBT)
    return {"samples": order[doubt][:DOUBTFUL].tolist(), "pairs": _pairs(found)}


def outliers(found: Findings) -> dict[str, Any] | None:
    """The strangest samples and their scores, if the run has scores."""
    scores = found.run.labels.outliers
    if scores is None or not (scores >= UNUSUAL).any():
        return None
    order = np.argsort(-scores, kind="stable")[:STRANGE]
    strangest = order[scores[order] >= UNUSUAL]
    return {"samples": strangest.tolist(), "scores": [float(scores[i]) for i in strangest]}


def _pairs(found: Findings) -> list[dict[str, Any]]:
    if found.k < 2:
        return []
    undecided = np.flatnonzero(found.runners_up > found.confidences / 2)
    first, second = found.clusters[undecided], found.seconds[undecided]
    pair = np.minimum(first, second) * found.k + np.maximum(first, second)
    codes, counts = np.unique(pair, return_counts=True)
    rows = []
    for at in np.argsort(-counts, kind="stable")[:PAIRS]:
        inside = undecided[pair == codes[at]]
        margins = found.confidences[inside] - found.runners_up[inside]
        nearest = inside[np.argsort(margins, kind="stable")][:PAIR_SAMPLES]
        a, b = divmod(int(codes[at]), found.k)
        rows.append({"a": a, "b": b, "count": int(counts[at]), "samples": nearest.tolist()})
    return rows


def short_name(source: str) -> str:
    """The last part of a path: a page that is shared should not reveal full paths."""
    return printable(Path(source).name or source)


def _amount(n: int, shape: Sequence[int]) -> str:
    if len(shape) == 1:
        return f"{n:,} rows of {shape[0]} feature{'' if shape[0] == 1 else 's'}"
    return f"{n:,} images of {' x '.join(map(str, shape))}"


def _clusters(numbers: Sequence[int]) -> str:
    listed = ", ".join(map(str, numbers[:10])) + (" …" if len(numbers) > 10 else "")
    return f"Cluster {listed} is" if len(numbers) == 1 else f"Clusters {listed} are"
