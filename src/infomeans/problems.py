"""What can be wrong with clusters, in plain words."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from infomeans.durations import duration
from infomeans.errors import few

COLLAPSED = 0.95
"""If one cluster holds more than this share of the samples, the clusters have collapsed."""

PLAIN = ("K-means on data", "graph on data")
"""Candidates for the start that need no network."""

UNSTABLE = 0.7
"""Below this mean stability, other ways to find clusters disagree."""

DISPUTED = 0.5
"""Below this stability a sample is in doubt: other starts mostly put it elsewhere."""

STRANGE = 0.99
"""From this outlier score on, a sample is set apart when pictures are sorted."""

RAISED = 0.01
"""Training has raised the score if it rose by this share of log K."""

FAINT = 0.25
"""Below this share of log K the score says that groups are not separate."""

LOST = 0.5
"""Below this adjusted Rand index to the initial clusters, training has lost them."""


def cluster_problems(sizes: Sequence[int], why: Mapping[str, int] | None = None) -> list[str]:
    """Messages about clusters of these sizes (K,): a collapse, or empty clusters.

    Parameters
    ----------
    sizes : sequence of int
        Number of samples in each cluster.
    why : mapping, optional
        What may be the reason: the number of `distinct` samples, and of `groups` in the data.

    Examples
    --------
    >>> from infomeans.problems import cluster_problems
    >>> cluster_problems([5, 5, 5, 0], {"distinct": 3})[0][:48]
    'Cluster 3 is empty: only 3 samples are distinct,'
    """
    k, empty = len(sizes), [cluster for cluster, size in enumerate(sizes) if not size]
    largest = max(sizes) / max(sum(sizes), 1)
    reason = _reason(k, why or {}) if empty else ""
    if k > 1 and (largest > COLLAPSED or 2 * len(empty) >= k):
        return [
            f"The clusters have collapsed: {k - len(empty)} of {k} are in use, and the largest "
            f"holds {math.floor(100 * largest)}% of the samples"
            + (
                f": {reason}"
                if reason
                else ". Try another seed, fewer clusters or longer pretraining."
            )
        ]
    if empty:
        which = f"Cluster {empty[0]} is" if len(empty) == 1 else f"Clusters {few(empty, 10)} are"
        return [f"{which} empty: {reason or 'fewer clusters may fit these data.'}"]
    return []


def _reason(n_clusters: int, why: Mapping[str, int]) -> str:
    """Why clusters may be empty; empty if nothing is known."""
    distinct, groups = why.get("distinct", n_clusters), why.get("groups", n_clusters)
    if distinct < n_clusters:
        if distinct == 1:
            return "all samples are the same, but for rounding; there is nothing to cluster."
        return (
            f"only {distinct} samples are distinct, the others are copies; ask for at most "
            f"{distinct} clusters."
        )
    if groups < n_clusters:
        return (
            f"the data seem to have about {groups} groups; ask for fewer clusters, or let "
            f"n_clusters='auto' (-k auto) find the number."
        )
    return ""


def start_problems(agreement: float | None) -> list[str]:
    """Whether training lost its start, by the adjusted Rand index between both."""
    if agreement is None or agreement >= LOST:
        return []
    return [
        f"Training lost the initial clusters: the adjusted Rand index between these and the result "
        f"is {agreement:.2f}. Try a lower learning_rate, or compare with GraphBaseline "
        f"(--method graph)."
    ]


def training_problems(history: Sequence[Mapping[str, Any]]) -> list[str]:
    """Whether epochs had to be undone, by the records of all epochs."""
    undone: dict[str, int] = {}
    for record in history:
        if record.get("halvings"):
            undone[record["phase"]] = undone.get(record["phase"], 0) + record["halvings"]
    return [
        f"The loss became NaN or infinite in the phase {phase}: {times} "
        f"{'epoch was' if times == 1 else 'epochs were'} undone, and the learning rate ended at "
        f"1/{2**times}. A lower learning rate may help."
        for phase, times in undone.items()
    ]


def stability_problems(stability: float | None) -> list[str]:
    """Whether other ways to start disagree, by the mean stability."""
    if stability is None or stability >= UNSTABLE:
        return []
    return [
        f"Other ways to find clusters agree on only {100 * stability:.0f}% of the samples: there "
        f"may be no clear groups, or another number of them."
    ]


def score_problems(score: float | None, n_clusters: int) -> list[str]:
    """Whether neighbours know next to nothing of each other's cluster."""
    if score is None or n_clusters < 2 or score >= FAINT * math.log(n_clusters):
        return []
    return [
        f"Neighbours know little of each other's cluster, {score:.2f} of at most "
        f"{math.log(n_clusters):.2f} nats: there may be no separate groups."
    ]


def run_problems(sizes: Sequence[int], metrics: Mapping[str, Any]) -> list[str]:
    """All messages about a run with clusters of these sizes and these figures."""
    return [
        *cluster_problems(sizes, metrics.get("why")),
        *start_problems(metrics.get("start", {}).get("agreement")),
        *stability_problems(metrics.get("stability")),
        *score_problems(metrics.get("score"), len(sizes)),
    ]


def _number(number: Mapping[str, Any], sizes: Sequence[int]) -> str:
    """The number of clusters that was found, how sure it is, and other answers."""
    n_samples, n_used = sum(sizes), sum(size > 0 for size in sizes)
    said = f"{number['best']}, found in {100 * number['sure']:.0f}% of random selections too"
    if number["best"] == number.get("k_max"):
        return f"{number['best']}, the most that is allowed"
    if number["best"] == number.get("k_min", 2) > 2:
        return f"{number['best']}, the fewest that are allowed"
    others = [f"next best {few(number['others'])}"] if number["others"] else []
    if number["finest"] not in (number["best"], *number["others"]):
        others.append(f"finest {number['finest']}")
    if n_used < number["best"]:
        others.append(f"{n_used} in use after training")
    if number["n_samples"] < n_samples:
        others.append(f"counted in {number['n_samples']:,} samples")
    return f"{said}; {', '.join(others)}" if others else said


def start_facts(metrics: Mapping[str, Any]) -> dict[str, str]:
    """How clusters were counted, how the start was chosen, and what training has changed.

    Parameters
    ----------
    metrics : mapping
        The figures of a run.

    Examples
    --------
    >>> from infomeans.problems import start_facts
    >>> scores = {"graph on data and embedding": 2.0214, "graph on data": 2.0146}
    >>> choice = {"chosen": "graph on data and embedding", "scores": scores}
    >>> start_facts({"start": {"choice": choice, "changed": 0.004}})
    {'start': 'graph on data and embedding, 2.021 nats between neighbours (graph on data 2.015)',
     'training': 'changed the cluster of 0.4% of the samples'}
    """
    facts, start = {}, metrics.get("start", {})
    if "number" in metrics:
        facts["clusters"] = _number(metrics["number"], metrics.get("sizes", ()))
    if "choice" in start:
        facts["start"] = _choice(**start["choice"])
    facts |= _how_found(start)
    if "duplicates" in metrics:
        facts["duplicates"] = _duplicates(**metrics["duplicates"])
    if "stability" in metrics:
        facts["stability"] = f"{metrics['stability']:.3f}: agreement with other starts"
    if "chosen_method" in metrics:
        facts["trained by"] = _chosen_method(metrics["chosen_method"], metrics.get("stability"))
    if start.get("changed") is not None:
        facts["training"] = _training(metrics, start)
    return facts


def _how_found(start: Mapping[str, Any]) -> dict[str, str]:
    """What is unusual about the start."""
    facts = {}
    if "n_selected" in start:
        facts["selection"] = (
            f"the start was found in {start['n_selected']:,} samples; the network assigned the rest"
        )
    if start.get("free"):
        facts["sizes"] = "learned, not equal"
    return facts


def _duplicates(groups: int, samples: int, exact: int) -> str:
    same = "group" if groups == 1 else "groups"
    return f"{samples:,} samples in {groups:,} {same}, {exact:,} exact copies: duplicates.csv"


def _chosen_method(method: str, stability: float | None) -> str:
    if stability is None:
        return method
    return f"{method}, as other starts {'agree' if stability >= UNSTABLE else 'disagree'}"


def _training(metrics: Mapping[str, Any], start: Mapping[str, Any]) -> str:
    """What training has changed, and whether it was worth its time."""
    words = f"changed the cluster of {100 * start['changed']:.1f}% of the samples"
    if "score" not in metrics:
        return words
    before, after = start["choice"]["scores"][start["choice"]["chosen"]], metrics["score"]
    most = math.log(len(metrics["sizes"]))
    if start.get("undone"):
        return f"made the clusters worse and was undone; {words}"
    if after - before > RAISED * most:
        return f"{words}: {before:.3f} to {after:.3f} nats between neighbours"
    if "seconds" not in start:
        return words
    return f"{words}; the start alone, {duration(start['seconds'])}, is as good"


def went_back(last: Mapping[str, Any]) -> str:
    """The message that training went back, by the record of its last epoch."""
    to = f"epoch {last['back_to'] + 1}" if last["back_to"] >= 0 else "the state before it"
    return (
        f"The clusters got worse in the phase {last['phase']}, and training went back from epoch "
        f"{last['epoch'] + 1} to {to}. A lower learning rate may help."
    )


def _choice(chosen: str, scores: Mapping[str, float], free: bool = False, **_: Any) -> str:
    if free:
        return f"{chosen}, the most closed clusters of any sizes"
    others = ", ".join(
        f"{name} {scores[name]:.3f}" for name in PLAIN if name in scores and name != chosen
    )
    words = f"{chosen}, {scores[chosen]:.3f} nats between neighbours"
    return f"{words} ({others})" if others else words
