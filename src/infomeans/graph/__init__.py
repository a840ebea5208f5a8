"""Nearest-neighbour graphs and sparse agglomeration, for the initial clusters."""

from infomeans.graph.agglomeration import agglomerate, neighbor_information
from infomeans.graph.hierarchy import Hierarchy, cluster_tree
from infomeans.graph.neighbors import mixed_graph, neighbor_graph, usual_neighbors
from infomeans.graph.number import NumberOfClusters, number_of_clusters
from infomeans.graph.tangents import tangent_graph

__all__ = [
    "Hierarchy",
    "NumberOfClusters",
    "agglomerate",
    "cluster_tree",
    "mixed_graph",
    "neighbor_graph",
    "neighbor_information",
    "number_of_clusters",
    "tangent_graph",
    "usual_neighbors",
]
