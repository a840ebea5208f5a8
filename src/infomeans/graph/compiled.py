"""The merges of `infomeans.graph.tree.Forest`, compiled by Numba: the same tree, much sooner.

What a dictionary holds there is found here by arrays:

- The edges between a cluster and a sample outside lie in the row of the sample. Rows are short and
  are searched from end to end. A linked list per cluster names the samples, in the order in which
  they came: sums must have the same order to have the same bits.
- The gains of a pair lie in one hash table for all pairs. A linked list per cluster names the
  partners; a partner that was absorbed stands for the cluster that absorbed it.

A merge changes the affinities of all pairs of a cluster. Those that gain no paths only fall. Their
old entries in the heap come too early, and are put right when they come up.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from infomeans._typing import Array, IntArray


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and keep the result if any folder for it can be written."""
    try:
        return numba.njit(cache=True)(function)
    except RuntimeError:
        return numba.njit(function)


class Edges(NamedTuple):
    """The edges between clusters and the samples outside of them, in one direction.

    A cluster has a list of samples: `head`, `tail`, `count`, and for each item `node` and `after`.
    A sample has a row of `length` clusters from `first` on, with the weights of the edges.
    """

    node: IntArray
    after: IntArray
    head: IntArray
    tail: IntArray
    count: IntArray  # type: ignore[assignment]
    first: IntArray
    length: IntArray
    cluster: IntArray
    weight: Array


class Pairs(NamedTuple):
    """Pairs of clusters: a hash table of gains, and a list of partners for every cluster.

    The gains of a pair a < b are D(a, b) and D(b, a), under the key `a count + b`. The items of the
    lists are `partner` and `after`; `state` has the number of pairs, the first free item and the
    number of items that were ever used.
    """

    key: IntArray
    gain: Array
    partner: IntArray
    after: IntArray
    head: IntArray
    tail: IntArray
    state: IntArray


class Clusters(NamedTuple):
    """The clusters: owner of every sample, sizes, lists of members, and who absorbed whom."""

    owner: IntArray
    size: IntArray
    head: IntArray
    tail: IntArray
    after: IntArray
    into: IntArray


def merges(
    start: IntArray,
    out: sparse.csr_array,
    into: sparse.csr_array,
    paths: sparse.csr_array,
    n_clusters: int,
) -> NDArray[np.int64]:
    """The merges from the first clusters down to `n_clusters`, as rows (kept, absorbed).

    Parameters
    ----------
    start : (n,) integer array
        The first clusters.
    out, into : (count, n) sparse array
        Edges from the clusters to the samples, and from the samples; they are used up.
    paths : (count, count) sparse array
        The gains D(a, b).
    n_clusters : int
        Number of clusters at the end.
    """
    owner, count = start.astype(np.int32), paths.shape[0]
    edges = [_edges(owner, one) for one in (out, into)]
    coo = paths.tocoo()
    real = (coo.row != coo.col) & (coo.data > 0)
    pairs = (coo.row[real].astype(np.int64), coo.col[real].astype(np.int64), coo.data[real])
    found = np.empty((max(count - n_clusters, 0), 2), dtype=np.int64)
    pushed = np.zeros(count, dtype=np.int64)
    done = _merges(_clusters(owner, count), *edges, _no_pairs(count), *pairs, pushed, found)
    return found[:done]


def _clusters(owner: IntArray, count: int) -> Clusters:
    """The clusters; no cluster is empty."""
    order, size = np.argsort(owner, kind="stable").astype(np.int32), np.bincount(owner)
    last = np.cumsum(size) - 1
    after = np.empty(len(owner), dtype=np.int32)
    after[order[:-1]] = order[1:]
    after[order[last]] = -1
    head, tail = order[last - size + 1], order[last]
    return Clusters(owner, size, head, tail, after, np.arange(count, dtype=np.int32))


def _no_pairs(count: int) -> Pairs:
    """No pairs of clusters."""
    key, gain = np.full(1024, -1, dtype=np.int64), np.empty((1024, 2))
    partner, after = (np.empty(1, dtype=np.int32) for _ in range(2))
    head, tail = (np.full(count, -1, dtype=np.int32) for _ in range(2))
    return Pairs(key, gain, partner, after, head, tail, np.array([0, -1, 0]))


def _edges(owner: IntArray, reach: sparse.csr_array) -> Edges:
    """The edges of clusters (count, n), without those inside of a cluster."""
    count, n = reach.shape
    indptr = reach.indptr.astype(np.int64)
    left = _outside(indptr, reach.indices, reach.data, owner)
    node, weight = reach.indices[:left].astype(np.int32), reach.data[:left]
    rows = sparse.csr_array((weight, node, indptr), shape=(count, n)).tocsc()
    after = np.arange(1, left + 1, dtype=np.int32)
    head, tail = indptr[:-1].astype(np.int32), (indptr[1:] - 1).astype(np.int32)
    lengths = np.diff(indptr)
    after[tail[lengths > 0]] = -1
    head[lengths == 0] = tail[lengths == 0] = -1
    first = rows.indptr.astype(np.int64)
    cluster = rows.indices.astype(np.int32)
    return Edges(node, after, head, tail, lengths, first, np.diff(first), cluster, rows.data)


@_compiled
def _outside(indptr, indices, data, owner):  # type: ignore[no-untyped-def]
    """Keep only the edges of a cluster to samples of others, in place; their number."""
    first, left = 0, 0
    for a in range(len(indptr) - 1):
        last = indptr[a + 1]
        for at in range(first, last):
            if owner[indices[at]] != a:
                indices[left], data[left] = indices[at], data[at]
                left += 1
        first, indptr[a + 1] = last, left
    return left


@_compiled
def _append(lists, a, item):  # type: ignore[no-untyped-def]
    """Put an item at the end of a cluster's list."""
    lists.after[item] = -1
    if lists.head[a] < 0:
        lists.head[a] = item
    else:
        lists.after[lists.tail[a]] = item
    lists.tail[a] = item


@_compiled
def _place(edges, j, a):  # type: ignore[no-untyped-def]
    """Where the row of a sample has a cluster; -1 if it has not."""
    for at in range(edges.first[j], edges.first[j] + edges.length[j]):
        if edges.cluster[at] == a:
            return at
    return -1


@_compiled
def _remove(edges, j, at):  # type: ignore[no-untyped-def]
    """Remove a place from the row of a sample; the last one moves there."""
    edges.length[j] -= 1
    last = edges.first[j] + edges.length[j]
    edges.cluster[at], edges.weight[at] = edges.cluster[last], edges.weight[last]


@_compiled
def _join(edges, owner, a, b):  # type: ignore[no-untyped-def]
    """Add the edges of cluster b to those of a, which owns its samples already."""
    item = edges.head[b]
    while item >= 0:
        j, following = edges.node[item], edges.after[item]
        of_b = _place(edges, j, b)
        if of_b >= 0 and owner[j] == a:
            _remove(edges, j, of_b)
        elif of_b >= 0:
            of_a = _place(edges, j, a)
            if of_a >= 0:
                edges.weight[of_a] += edges.weight[of_b]
                _remove(edges, j, of_b)
            else:
                edges.cluster[of_b] = a
                edges.count[a] += 1
                _append(edges, a, item)
        item = following
    edges.head[b] = edges.tail[b] = -1
    edges.count[b] = 0


@_compiled
def _probe(key, wanted):  # type: ignore[no-untyped-def]
    """The place of a key in the hash table, or the empty place where it belongs."""
    mask = len(key) - 1
    at = _hashed(wanted, mask)
    while key[at] >= 0 and key[at] != wanted:
        at = (at + 1) & mask
    return at


@_compiled
def _hashed(wanted, mask):  # type: ignore[no-untyped-def]
    mixed = np.uint64(wanted) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> np.uint64(24)) & mask


@_compiled
def _forget(pairs, at):  # type: ignore[no-untyped-def]
    """Empty a place of the hash table; later keys move up, so that they are found."""
    key, mask = pairs.key, len(pairs.key) - 1
    gap, at = at, (at + 1) & mask
    while key[at] >= 0:
        if (at - _hashed(key[at], mask)) & mask >= (at - gap) & mask:
            key[gap] = key[at]
            pairs.gain[gap, 0], pairs.gain[gap, 1] = pairs.gain[at, 0], pairs.gain[at, 1]
            gap = at
        at = (at + 1) & mask
    key[gap] = -1
    pairs.state[0] -= 1


@_compiled
def _meet(pairs, a, x):  # type: ignore[no-untyped-def]
    """Name x in the list of a."""
    item = pairs.state[1]
    if item >= 0:
        pairs.state[1] = pairs.after[item]
    else:
        item = pairs.state[2]
        pairs.state[2] += 1
    pairs.partner[item] = x
    _append(pairs, a, item)


@_compiled
def _gained(pairs, a, x, forth, back, met):  # type: ignore[no-untyped-def]
    """Add to D(a, x) and D(x, a). A new pair is named in both lists, unless they have `met`."""
    count = len(pairs.head)
    wanted = min(a, x) * count + max(a, x)
    at = _probe(pairs.key, wanted)
    new = pairs.key[at] < 0
    if new:
        pairs.key[at] = wanted
        pairs.gain[at, 0] = pairs.gain[at, 1] = 0.0
        pairs.state[0] += 1
        if not met:
            _meet(pairs, a, x)
            _meet(pairs, x, a)
    pairs.gain[at, int(a > x)] += forth
    pairs.gain[at, int(a < x)] += back
    return new


@_compiled
def _with_room(pairs, more):  # type: ignore[no-untyped-def]
    """The pairs, in larger arrays if so many more would not fit."""
    key, gain, partner, after = pairs.key, pairs.gain, pairs.partner, pairs.after
    if 2 * (pairs.state[0] + more) > len(key):
        size = len(key)
        while size < 2 * (pairs.state[0] + more):
            size *= 2
        key, gain = np.empty(size, np.int64), np.empty((size, 2))
        for at in range(size):
            key[at] = -1
        for old in range(len(pairs.key)):
            if pairs.key[old] >= 0:
                at = _probe(key, pairs.key[old])
                key[at] = pairs.key[old]
                gain[at, 0], gain[at, 1] = pairs.gain[old, 0], pairs.gain[old, 1]
    if pairs.state[2] + 2 * more > len(partner):
        size = len(partner) + len(partner) // 2 + 2 * more
        partner, after = np.empty(size, np.int32), np.empty(size, np.int32)
        for item in range(pairs.state[2]):
            partner[item], after[item] = pairs.partner[item], pairs.after[item]
    return Pairs(key, gain, partner, after, pairs.head, pairs.tail, pairs.state)


@_compiled
def _filled(pairs, row, column, gain):  # type: ignore[no-untyped-def]
    """The pairs with all gains D(row, column)."""
    pairs = _with_room(pairs, len(row))
    for at in range(len(row)):
        _gained(pairs, row[at], column[at], gain[at], 0.0, False)
    return pairs


@_compiled
def _root(into, x):  # type: ignore[no-untyped-def]
    """The cluster that a cluster is part of by now, with path compression."""
    while into[x] != x:
        into[x] = into[into[x]]
        x = into[x]
    return x


@_compiled
def _affinity(pairs, size, at):  # type: ignore[no-untyped-def]
    """Affinity of the pair at a place of the hash table."""
    count = len(size)
    a, b = pairs.key[at] // count, pairs.key[at] % count
    return pairs.gain[at, 0] / (size[a] * size[a]) + pairs.gain[at, 1] / (size[b] * size[b])


@_compiled
def _sink(height, key, at, length):  # type: ignore[no-untyped-def]
    """Let an entry of the heap sink to where it belongs; the highest is on top."""
    h, k = height[at], key[at]
    while True:
        child = 2 * at + 1
        if child >= length:
            break
        other = child + 1
        if other < length and _before(height[other], key[other], height[child], key[child]):
            child = other
        if not _before(height[child], key[child], h, k):
            break
        height[at], key[at] = height[child], key[child]
        at = child
    height[at], key[at] = h, k


@_compiled
def _rise(height, key, at):  # type: ignore[no-untyped-def]
    """Let an entry of the heap rise to where it belongs."""
    h, k = height[at], key[at]
    while at > 0:
        parent = (at - 1) // 2
        if not _before(h, k, height[parent], key[parent]):
            break
        height[at], key[at] = height[parent], key[parent]
        at = parent
    height[at], key[at] = h, k


@_compiled
def _before(height, key, other_height, other_key):  # type: ignore[no-untyped-def]
    return height > other_height or (height == other_height and key < other_key)


@_compiled
def _heap(pairs, size, height, key):  # type: ignore[no-untyped-def]
    """A heap of all pairs, the closest first; its length."""
    length = 0
    for at in range(len(pairs.key)):
        if pairs.key[at] >= 0:
            height[length], key[length] = _affinity(pairs, size, at), pairs.key[at]
            length += 1
    for at in range(length // 2 - 1, -1, -1):
        _sink(height, key, at, length)
    return length


@_compiled
def _leave(edges, j, a):  # type: ignore[no-untyped-def]
    """Forget the edges between a cluster and a sample that is no longer outside of it."""
    at = _place(edges, j, a)
    if at >= 0:
        _remove(edges, j, at)
        edges.count[a] -= 1


@_compiled
def _absorb(clusters, out, into, a, b):  # type: ignore[no-untyped-def]
    """The samples of b become members of a; they are no longer outside of it."""
    j = clusters.head[b]
    while j >= 0:
        clusters.owner[j] = a
        _leave(out, j, a)
        _leave(into, j, a)
        j = clusters.after[j]
    clusters.after[clusters.tail[a]] = clusters.head[b]
    clusters.tail[a] = clusters.tail[b]
    clusters.size[a] += clusters.size[b]


@_compiled
def _inherit(pairs, clusters, a, b, touched):  # type: ignore[no-untyped-def]
    """Add the gains of b to those of a; how many partners that were."""
    count, found = len(pairs.head), 0
    _forget(pairs, _probe(pairs.key, min(a, b) * count + max(a, b)))
    item = pairs.head[b]
    while item >= 0:
        following = pairs.after[item]
        x = _root(clusters.into, np.int64(pairs.partner[item]))
        at = _probe(pairs.key, min(b, x) * count + max(b, x))
        kept = False
        if x != b and pairs.key[at] >= 0:
            forth, back = pairs.gain[at, int(b > x)], pairs.gain[at, int(b < x)]
            _forget(pairs, at)
            kept = _gained(pairs, a, x, forth, back, True)
            touched[found] = x
            found += 1
        if kept:
            pairs.partner[item] = x
            _append(pairs, a, item)
        else:
            pairs.after[item] = pairs.state[1]
            pairs.state[1] = item
        item = following
    pairs.head[b] = pairs.tail[b] = -1
    clusters.into[b] = a
    return found


@_compiled
def _cross(pairs, owner, one_way, back, a, b, touched, found):  # type: ignore[no-untyped-def]
    """Add the paths that leave from b and return to a, or the other way round."""
    item = one_way.head[b]
    while item >= 0:
        j = one_way.node[item]
        item = one_way.after[item]
        x = np.int64(owner[j])
        if x != a:
            home = _place(back, j, a)
            if home >= 0:
                weight = one_way.weight[_place(one_way, j, b)]
                _gained(pairs, a, x, weight * back.weight[home], 0.0, False)
                touched[found] = x
                found += 1
    return found


@_compiled
def _merge(clusters, out, into, pairs, a, b, touched):  # type: ignore[no-untyped-def]
    """Absorb cluster b into a; the number of partners that gained paths, listed in `touched`."""
    owner = clusters.owner
    _absorb(clusters, out, into, a, b)
    found = _inherit(pairs, clusters, a, b, touched)
    found = _cross(pairs, owner, out, into, a, b, touched, found)
    found = _cross(pairs, owner, into, out, a, b, touched, found)
    _join(out, owner, a, b)
    _join(into, owner, a, b)
    return found


@_compiled
def _put_right(pairs, size, height, key, length):  # type: ignore[no-untyped-def]
    """Correct outdated entries on top of the heap, or drop those of former pairs; its length."""
    while length > 0:
        at = _probe(pairs.key, key[0])
        if pairs.key[at] >= 0:
            affinity = _affinity(pairs, size, at)
            if height[0] == affinity:
                break
            height[0] = affinity
        else:
            length -= 1
            height[0], key[0] = height[length], key[length]
        _sink(height, key, 0, length)
    return length


@_compiled
def _push(pairs, size, height, key, length, a, touched, pushed, step):  # type: ignore[no-untyped-def]
    """Put the pairs of a cluster that gained paths on the heap, each once; its length."""
    for x in touched:
        if pushed[x] != step:
            pushed[x] = step
            wanted = min(a, x) * len(size) + max(a, x)
            height[length] = _affinity(pairs, size, _probe(pairs.key, wanted))
            key[length] = wanted
            _rise(height, key, length)
            length += 1
    return length


@_compiled
def _merges(clusters, out, into, pairs, row, column, gain, pushed, found):  # type: ignore[no-untyped-def]
    """Fill `found` with merges, the closest pair first; their number."""
    size, a = clusters.size, np.int64(0)
    pairs = _filled(pairs, row, column, gain)
    height, key, length = np.empty(0), np.empty(0, np.int64), 0
    more, touched = pairs.state[0], np.empty(0, np.int64)
    for step in range(len(found) + 1):
        if length + more > len(height):
            room = 2 * pairs.state[0] + more + 1000
            height, key = np.empty(room), np.empty(room, np.int64)
            length = _heap(pairs, size, height, key)
        elif step > 0:
            length = _push(pairs, size, height, key, length, a, touched[:more], pushed, step)
        length = _put_right(pairs, size, height, key, length)
        if length == 0 or step == len(found):
            break
        a, b = key[0] // len(size), key[0] % len(size)
        if out.count[a] + into.count[a] < out.count[b] + into.count[b]:
            a, b = b, a
        more = out.count[b] + into.count[b]
        pairs = _with_room(pairs, more)
        if 2 * more > len(touched):
            touched = np.empty(4 * more, np.int64)
        more = _merge(clusters, out, into, pairs, a, b, touched)
        found[step, 0], found[step, 1] = a, b
    return step
