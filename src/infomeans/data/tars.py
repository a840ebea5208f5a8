"""Images in tar archives, in the layout of webdataset.

The files of a sample follow each other and differ only in what comes after the first dot of their
name, as in `0001.png` and `0001.cls`.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from infomeans.data.columns import label_texts
from infomeans.data.decoding import NOT_READ, Decoded, Fit, Member, Size
from infomeans.data.files import IMAGE_SUFFIXES, has_suffix, printable
from infomeans.data.images import Images
from infomeans.data.listing import Listing
from infomeans.data.workers import decode_files
from infomeans.errors import InputError

LABELS = ("cls", "txt", "json")
"""Endings of files with labels; the first one that is found counts."""

FIELDS = ("label", "cls", "class")
"""Names of the label in a JSON object."""

CLASSES = 0.5
"""Texts are labels if there are at most so many different ones per sample; others are captions."""


@dataclass
class _Sample:
    """A sample of an archive: its id, its image, and the texts of its labels."""

    name: str
    image: Member | None = None
    texts: dict[str, str] = field(default_factory=dict)


def images_in_tars(source: str, listing: Listing) -> Images:
    """The images in one or several archives, as they follow each other.

    Parameters
    ----------
    source : str
        Where the archives are.
    listing : list of (path, id)
        The archives.
    """
    samples: list[_Sample] = []
    for path, name in listing:
        before = "" if len(listing) == 1 else f"{name.removesuffix('.tar')}/"
        samples += _samples(path, before)
    if not any(sample.image for sample in samples):
        raise InputError(f"{source} holds no images; accepted are {', '.join(IMAGE_SUFFIXES)}.")

    def decode(positions: Sequence[int], size: Size | None, fit: Fit) -> Iterator[list[Decoded]]:
        members = [samples[i].image or ("", 0, 0, "") for i in positions]
        lacking = {at for at, member in enumerate(members) if not member[0]}
        done = 0
        for piece in decode_files(members, size, fit):
            yield [
                Decoded(problem="no image among its files") if done + at in lacking else image
                for at, image in enumerate(piece)
            ]
            done += len(piece)

    ids = [printable(sample.name) for sample in samples]
    return Images(source, ids, decode, classes=_classes(samples))


def _samples(path: str, before: str) -> list[_Sample]:
    """The samples of an archive, in order."""
    found: list[_Sample] = []
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                archive.members = []  # type: ignore[attr-defined]  # or it would keep all of them
                if member.isfile() and not _hidden(member.name):
                    _add(found, path, before, archive, member)
    except tarfile.TarError as error:
        last = f" after {found[-1].name!r}, its sample {len(found)}" if found else ""
        raise InputError(
            f"{printable(path)} cannot be read{last}: {error}; a tar archive that is not "
            f"compressed is accepted."
        ) from error
    return found


def _hidden(name: str) -> bool:
    return name.rpartition("/")[2].startswith(".")


def _add(
    found: list[_Sample], path: str, before: str, archive: tarfile.TarFile, member: tarfile.TarInfo
) -> None:
    folder, slash, base = member.name.rpartition("/")
    stem, _, ending = base.partition(".")
    name = f"{before}{folder}{slash}{stem}"
    if not found or found[-1].name != name:
        found.append(_Sample(name))
    sample = found[-1]
    if has_suffix(base, IMAGE_SUFFIXES + NOT_READ):
        if sample.image is not None:
            raise InputError(
                f"{printable(path)}: the sample {name!r} has two images, {sample.image[3]} and "
                f"{member.name}; one is accepted."
            )
        sample.image = (path, member.offset_data, member.size, member.name)
    elif ending.lower() in LABELS:
        content = archive.extractfile(member)
        assert content is not None
        sample.texts[ending.lower()] = content.read().decode("utf-8", "backslashreplace").strip()


def _classes(samples: list[_Sample]) -> list[str] | None:
    """The labels of all samples; None if there are none, or if they are captions."""
    ending = next((one for one in LABELS if any(one in s.texts for s in samples)), None)
    if ending is None:
        return None
    texts = [sample.texts.get(ending, "") for sample in samples]
    found = label_texts([_label(text) for text in texts] if ending == "json" else texts)
    kinds = {label for label in found if label}
    return found if 0 < len(kinds) <= max(CLASSES * len(found), 1) else None


def _label(text: str) -> Any:
    """The label in a JSON text; None if there is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, dict):
        value = next((value[name] for name in FIELDS if name in value), None)
    return value if isinstance(value, str | int) else None
