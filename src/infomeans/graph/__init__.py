"""Nearest-neighbour graphs and sparse agglomeration: where the clusters start from."""

from infomeans.graph.agglomeration import agglomerate
from infomeans.graph.neighbors import neighbor_graph, usual_neighbors
from infomeans.graph.tangents import tangent_graph

__all__ = ["agglomerate", "neighbor_graph", "tangent_graph", "usual_neighbors"]
