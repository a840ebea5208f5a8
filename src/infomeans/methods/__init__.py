"""The clustering methods, one file each, and their registry."""

from infomeans.methods.registry import METHODS, MethodInfo, find_method

__all__ = ["METHODS", "MethodInfo", "find_method"]
