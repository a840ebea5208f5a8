"""Nearest-neighbour graphs and sparse agglomeration, for the initial clusters."""

from infomeans.graph.agglomeration import agglomerate, neighbor_information
from infomeans.graph.neighbors import neighbor_graph, usual_neighbors
from infomeans.graph.tangents import tangent_graph

__all__ = [
    "agglomerate",
    "neighbor_graph",
    "neighbor_information",
    "tangent_graph",
    "usual_neighbors",
]
