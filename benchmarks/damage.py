"""Ways to damage a file, for the campaigns and their short versions in the tests."""

import json
import random
from pathlib import Path
from typing import Any

NONSENSE = (b"", b"[" * 100_000, b"null", b"[]", b"{}", bytes(range(200)))
WORDS = (None, -1, 0, 1, 5_000_000, 10**12, 1e308, "", "x", [], {}, [[]], True)


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content of a file after one accident; sometimes after a change of a value in JSON."""
    if content[:1] == b"{" and rng.random() < 0.5:
        return changed_json(content, rng)
    at, end = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return rng.choice(
        (
            flipped(content, rng),
            content[:at],
            content[:at] + content[end:],
            content[:at] + bytes(end - at) + content[end:],
            content[:at] + rng.randbytes(rng.randrange(1, 64)) + content[at:],
            content[:end] + content[at:],
            rng.choice(NONSENSE),
            scattered(content, rng),
        )
    )


def flipped(content: bytes, rng: random.Random) -> bytes:
    """One bit is another."""
    few = bytearray(content)
    if few:
        few[rng.randrange(len(few))] ^= 1 << rng.randrange(8)
    return bytes(few)


def scattered(content: bytes, rng: random.Random) -> bytes:
    """A few bytes are others."""
    few = bytearray(content)
    for _ in range(rng.randrange(1, 9) if few else 0):
        few[rng.randrange(len(few))] = rng.randrange(256)
    return bytes(few)


def changed_json(content: bytes, rng: random.Random) -> bytes:
    """JSON with another value at one place, or without it."""
    try:
        tree: Any = json.loads(content)
    except ValueError:
        return b"{"
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        keys = node.keys() if isinstance(node, dict) else range(len(node))
        for key in list(keys):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(tree)
    if not places:
        return b"{}"
    node, key = rng.choice(places)
    if isinstance(node, dict) and rng.random() < 0.3:
        node["other" if rng.random() < 0.5 else str(key) + " "] = node.pop(key)
    else:
        node[key] = rng.choice(WORDS)
    return json.dumps(tree).encode()


def damage_one(folder: Path, rng: random.Random) -> tuple[Path, bytes]:
    """Damage a file somewhere in a folder; returns it with its content before."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    file = rng.choice(files)
    before = file.read_bytes()
    file.write_bytes(damaged(before, rng))
    return file, before
