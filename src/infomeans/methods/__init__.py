"""The clustering methods, one file each, and their registry."""

from infomeans.methods.registry import (
    BASELINES,
    DEEP,
    ESTIMATORS,
    METHODS,
    MethodInfo,
    find_method,
)

__all__ = ["BASELINES", "DEEP", "ESTIMATORS", "METHODS", "MethodInfo", "find_method"]
