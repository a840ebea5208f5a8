"""The initial clusters."""

from infomeans.start.candidates import Choice
from infomeans.start.choice import choose, choose_start
from infomeans.start.initial import Init, Start, check_init, find_start, kmeans, soft_kmeans

__all__ = [
    "Choice",
    "Init",
    "Start",
    "check_init",
    "choose",
    "choose_start",
    "find_start",
    "kmeans",
    "soft_kmeans",
]
