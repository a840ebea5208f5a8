"""The clustering methods, one file each, and their registry."""

from infomeans.methods.registry import BASELINES, ESTIMATORS, METHODS, MethodInfo, find_method

__all__ = ["BASELINES", "ESTIMATORS", "METHODS", "MethodInfo", "find_method"]
