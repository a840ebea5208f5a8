"""Damaged files: whether each is read or refused in one line, and nothing else happens.

    python benchmarks/hostile_inputs.py [--images 5000] [--tables 1000] [--seed 0]

Sound images and tables are damaged by a seeded mutation each, and opened one after the other in a
process of its own, with limits on time and memory. Needs no data, but a system with `resource`.
"""

import argparse
import gzip
import io
import json
import random
import select
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image, features

SECONDS, BYTES = 10.0, 4 * 2**30
"""Limits for one file: time, and memory of the process."""

SIZES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
"""Values for what may be a field with a size."""

GOOD = ("read", "refused")


def main() -> None:
    from common import append, machine

    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--images", type=int, default=5000)
    arguments.add_argument("--tables", type=int, default=1000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.serve:
        serve()
        return
    before, began = machine(), time.perf_counter()
    found = campaign(images=options.images, tables=options.tables, seed=options.seed)
    given = {"images": options.images, "tables": options.tables, "seed": options.seed}
    limits = {"seconds": SECONDS, "bytes": BYTES}
    row = {**given, "limits": limits, **found, "took": round(time.perf_counter() - began, 1)}
    print(json.dumps({name: row[name] for name in ("counts", "bad", "slowest", "took")}, indent=2))
    append("hostile_inputs.jsonl", {**row, "machine": before})


def campaign(*, images: int, tables: int, seed: int) -> dict[str, object]:
    """Open so many damaged files.

    Returns
    -------
    dict
        "counts" by kind of file and outcome, the "bad" files among the first hundred, and the
        seconds of the "slowest" one.
    """
    sound = {"image": sound_images(), "table": sound_tables()}
    counts: dict[str, Counter[str]] = {}
    bad, slowest = [], 0.0
    with tempfile.TemporaryDirectory() as folder, Reader() as reader:
        for kind, number in (("image", images), ("table", tables)):
            names = sorted(sound[kind])
            for i in range(number):
                name, rng = names[i % len(names)], random.Random(f"{seed} {kind} {i}")  # noqa: S311
                path = Path(folder, name)
                path.write_bytes(damaged(name, sound[kind][name], rng))
                outcome, why = reader.open(path)
                slowest = max(slowest, reader.took)
                counts.setdefault(name, Counter())[outcome] += 1
                if outcome not in GOOD and len(bad) < 100:
                    bad.append({"name": name, "number": i, "outcome": outcome, "why": why})
                path.unlink()
    return {
        "counts": {name: dict(sorted(found.items())) for name, found in sorted(counts.items())},
        "bad": bad,
        "slowest": round(slowest, 2),
    }


class Reader:
    """Opens files in another process, and starts a new one when it crashes or hangs."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.took = 0.0

    def __enter__(self) -> "Reader":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def open(self, path: Path) -> tuple[str, str]:
        """The outcome for a file, and its reason."""
        process = self.process = self.process or self.started()
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        began = time.perf_counter()
        ready, _, _ = select.select([process.stdout], [], [], SECONDS)
        self.took = time.perf_counter() - began
        line = process.stdout.readline() if ready else ""
        if line:
            outcome, _, why = line.rstrip("\n").partition(" ")
            return outcome, why
        self.stop()
        return ("crash", f"exit {process.returncode}") if ready else ("hang", "")

    def started(self) -> "subprocess.Popen[str]":
        """A process that has imported everything."""
        process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        process.stdout.readline()
        return process

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def serve() -> None:
    """Open the files whose paths come in, and say what became of each."""
    import resource

    import h5py  # noqa: F401
    import pandas as pd  # noqa: F401
    from pyarrow import csv, parquet  # noqa: F401

    from infomeans import data  # noqa: F401

    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    print("ready", flush=True)
    for line in sys.stdin:
        print(*opened(line.rstrip("\n")), flush=True)


def opened(path: str) -> tuple[str, str]:
    """What becomes of a file: "read", "refused" in one line, or "other"."""
    from infomeans import data
    from infomeans.errors import InputError

    try:
        samples = data.open(path)
        samples.batch(np.arange(min(len(samples), 4)))
    except InputError as error:
        text = str(error)
        return ("refused", "") if "\n" not in text else ("other", "several lines")
    except BaseException as error:
        return "other", f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
    return "read", ""


def sound_images() -> dict[str, bytes]:
    """Small and large images in all formats and several modes."""
    rng = np.random.default_rng(0)
    small = Image.fromarray(rng.integers(0, 256, (18, 24, 3), dtype=np.uint8))
    large = small.resize((240, 180))
    deep = Image.fromarray(rng.integers(0, 2**16, (18, 24), dtype=np.uint16))
    frames = [small.rotate(angle) for angle in (90, 180)]
    exif = Image.Exif()
    exif[274] = 6
    found = {
        "rgb.png": _saved(small, "PNG"),
        "large.png": _saved(large, "PNG"),
        "alpha.png": _saved(small.convert("RGBA"), "PNG"),
        "palette.png": _saved(small.convert("P"), "PNG", transparency=3),
        "deep.png": _saved(deep, "PNG"),
        "plain.jpg": _saved(small, "JPEG"),
        "large.jpg": _saved(large, "JPEG", progressive=True, exif=exif),
        "cmyk.jpg": _saved(small.convert("CMYK"), "JPEG"),
        "lossy.webp": _saved(small, "WEBP"),
        "exact.webp": _saved(large.convert("RGBA"), "WEBP", lossless=True),
        "plain.bmp": _saved(small, "BMP"),
        "palette.bmp": _saved(small.convert("P"), "BMP"),
        "frames.gif": _saved(small, "GIF", save_all=True, append_images=frames),
        "plain.tiff": _saved(small, "TIFF"),
        "lzw.tiff": _saved(large, "TIFF", compression="tiff_lzw"),
        "deflate.tiff": _saved(deep, "TIFF", compression="tiff_adobe_deflate"),
        "jpeg.tiff": _saved(small, "TIFF", compression="jpeg"),
        "plain.ppm": _saved(small, "PPM"),
        "bits.pbm": _saved(small.convert("1"), "PPM"),
    }
    if features.check("avif"):
        found["plain.avif"] = _saved(small, "AVIF")
    with suppress(ImportError):
        import pillow_heif

        heif = io.BytesIO()
        pillow_heif.from_pillow(small).save(heif)
        found["plain.heic"] = heif.getvalue()
    return found


def _saved(image: Image.Image, form: str, **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def sound_tables() -> dict[str, bytes]:
    """The same small table in all formats."""
    import h5py
    import pyarrow
    from pyarrow import parquet

    X = np.random.default_rng(0).normal(size=(40, 5)).round(3)
    words = [f"sample {i}" for i in range(40)]
    rows = [",".join([f'"{word}"', *map(str, x)]) for word, x in zip(words, X, strict=True)]
    text = "\n".join(["name,a,b,c,d,e", *rows, ""]).encode()
    table = pyarrow.table({"name": words, **dict(zip("abcde", X.T, strict=True))})
    files = {name: io.BytesIO() for name in ("t.parquet", "z.parquet", "t.npy", "t.npz", "t.h5")}
    parquet.write_table(table, files["t.parquet"], compression="none")
    parquet.write_table(table, files["z.parquet"], compression="zstd")
    np.save(files["t.npy"], X)
    np.savez_compressed(files["t.npz"], X=X)
    with h5py.File(files["t.h5"], "w") as file:
        file.create_dataset("group/X", data=X, chunks=(8, 5), compression="gzip")
    comma = text.replace(b",", b";").replace(b".", b",")
    plain = {"t.csv": text, "comma.csv": comma, "wide.csv": text.decode().encode("utf-16")}
    packed = {"t.csv.gz": gzip.compress(text)}
    return {**plain, **packed, **{name: file.getvalue() for name, file in files.items()}}


def damaged(name: str, raw: bytes, rng: random.Random) -> bytes:
    """A file with one to three kinds of damage; checksums of some are right all the same."""
    if name.endswith(".gz") and rng.random() < 0.5:
        return gzip.compress(damaged(name.removesuffix(".gz"), gzip.decompress(raw), rng))
    for _ in range(rng.choice((1, 1, 2, 3))):
        raw = rng.choice(DAMAGES)(raw, rng) or b"\0"
    return _checked(raw) if name.endswith(".png") and rng.random() < 0.5 else raw


def _flip(raw: bytes, rng: random.Random) -> bytes:
    made = bytearray(raw)
    for _ in range(rng.choice((1, 2, 8, 32))):
        made[_place(made, rng)] ^= 1 << rng.randrange(8)
    return bytes(made)


def _cut(raw: bytes, rng: random.Random) -> bytes:
    return raw[: rng.randrange(len(raw))]


def _insert(raw: bytes, rng: random.Random) -> bytes:
    at = _place(raw, rng)
    return raw[:at] + rng.randbytes(rng.choice((1, 2, 4, 64))) + raw[at:]


def _remove(raw: bytes, rng: random.Random) -> bytes:
    at = _place(raw, rng)
    return raw[:at] + raw[at + rng.choice((1, 2, 4, 64)) :]


def _repeat(raw: bytes, rng: random.Random) -> bytes:
    at, to = sorted((_place(raw, rng), _place(raw, rng)))
    return raw[:to] + raw[at:to] * rng.choice((1, 2, 100)) + raw[to:]


def _size(raw: bytes, rng: random.Random) -> bytes:
    at, width = _place(raw, rng), rng.choice((1, 2, 4, 8))
    value = rng.choice(SIZES) % 256**width
    return raw[:at] + value.to_bytes(width, rng.choice(("big", "little"))) + raw[at + width :]


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip, _cut, _insert, _remove, _repeat, _size, _size,
)  # fmt: skip


def _place(raw: bytes | bytearray, rng: random.Random) -> int:
    """A place anywhere, or near the beginning or the end, where headers are."""
    near = min(len(raw), 200)
    return rng.choice(
        (rng.randrange(len(raw)), rng.randrange(near), len(raw) - 1 - rng.randrange(near))
    )


def _checked(raw: bytes) -> bytes:
    """A PNG whose checksums are right, so that more of its damage is seen."""
    return raw[:8] + b"".join(_chunks(raw[8:]))


def _chunks(raw: bytes) -> Iterator[bytes]:
    while len(raw) >= 12:
        length = int.from_bytes(raw[:4], "big")
        body = raw[4 : 8 + length]
        yield raw[:4] + body + zlib.crc32(body).to_bytes(4, "big")
        raw = raw[12 + length :]
    yield raw


if __name__ == "__main__":
    main()
