"""The initial clusters."""

from infomeans.start.initial import Init, Start, check_init, find_start, kmeans, soft_kmeans

__all__ = ["Init", "Start", "check_init", "find_start", "kmeans", "soft_kmeans"]
