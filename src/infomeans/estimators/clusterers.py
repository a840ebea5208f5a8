"""The six clusterers: one for each method, with the parameters that are its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from sklearn.utils._param_validation import StrOptions

from infomeans.estimators.base import NOT_NEGATIVE, POSITIVE
from infomeans.estimators.deep import DeepClusterer


@dataclass(eq=False, repr=False, kw_only=True)
class MIADM(DeepClusterer):
    """Mutual information maximised by an alternating direction method.

    Beyond the parameters of `DeepClusterer` it has these.

    Parameters
    ----------
    lam : float
        Regularisation of the head's weights (Eq. RMI).
    targets : {"closed", "exact"}
        The targets in the paper's closed form, or as the exact minimiser.
    prior : sequence of n_clusters positive numbers, optional
        Wanted shares of the clusters, in any order; equal if not given.
    """

    lam: float = 0.0
    targets: Literal["closed", "exact"] = "closed"
    prior: Sequence[float] | None = None

    method = "mi-adm"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "lam": [NOT_NEGATIVE],
        "targets": [StrOptions({"closed", "exact"})],
        "prior": ["array-like", None],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class SRKMeans(DeepClusterer):
    """Soft and regularised K-means, the generative face of MI-ADM.

    A network of your own needs a bounded embedding.

    Beyond the parameters of `DeepClusterer` it has these.

    Parameters
    ----------
    lam : float
        Regularisation; the softmin's temperature is `lam * n_clusters`.
    """

    lam: float = 1e-4

    method = "sr-kmeans"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "lam": [POSITIVE],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class DEPICT(DeepClusterer):
    """Relative entropy to targets, with balanced clusters.

    Beyond the parameters of `DeepClusterer` it has these.

    Parameters
    ----------
    gamma : float
        Weight of the balance; of no effect on the released targets.
    targets : {"released", "closed", "exact"}
        The formula of the authors' program, which sharpens; the one they printed, which does not;
        or the exact minimiser of their printed objective.
    prior : sequence of n_clusters positive numbers, optional
        Wanted shares of the clusters, in any order; equal if not given.
    """

    gamma: float = 1.0
    targets: Literal["released", "closed", "exact"] = "released"
    prior: Sequence[float] | None = None

    method = "depict"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "gamma": [NOT_NEGATIVE],
        "targets": [StrOptions({"released", "closed", "exact"})],
        "prior": ["array-like", None],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class MID(DeepClusterer):
    """Mutual information maximised directly, by gradient steps.

    Beyond the parameters of `DeepClusterer` it has these.

    Parameters
    ----------
    prior : sequence of n_clusters positive numbers, optional
        Wanted shares of the clusters, in any order; equal if not given.
    """

    prior: Sequence[float] | None = None

    method = "mi-d"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "prior": ["array-like", None],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class DEC(DeepClusterer):
    """Student's t posteriors sharpened towards targets of their own.

    As published it has no warm-up and starts from K-means: `init="kmeans", warmup_epochs=0`.
    Beyond the parameters of `DeepClusterer` it has these.

    Parameters
    ----------
    reconstruction : bool
        Drop the decoder (DEC) or keep it (IDEC).
    """

    reconstruction: bool = False

    method = "dec"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "reconstruction": ["boolean"],
    }


@dataclass(eq=False, repr=False, kw_only=True)
class DCN(DeepClusterer):
    """Hard K-means on the embedding, with centroids that follow every batch.

    As published it has no warm-up and starts from K-means: `init="kmeans", warmup_epochs=0`.
    Beyond the parameters of `DeepClusterer` it has these.

    Parameters
    ----------
    lam : float
        Weight of the distance to the centroids.
    """

    lam: float = 1.0

    method = "dcn"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DeepClusterer._parameter_constraints,
        "lam": [NOT_NEGATIVE],
    }
