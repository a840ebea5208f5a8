import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from infomeans.cli import app


@pytest.fixture
def infomeans():
    """Call the command in this process."""

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "200"})
        assert result.exit_code == code, result.output
        return result

    return run


@pytest.fixture(scope="session")
def photos(tmp_path_factory, stripes):
    """A folder of images, in one folder for each kind."""
    folder = tmp_path_factory.mktemp("photos")
    images, classes = stripes
    scaled = (255 * (images - images.min()) / np.ptp(images)).astype(np.uint8)
    for number, (image, kind) in enumerate(zip(scaled, classes, strict=True)):
        place = folder / f"kind {kind}"
        place.mkdir(exist_ok=True)
        Image.fromarray(image).save(place / f"{number:03}.png")
    return folder


@pytest.fixture(scope="session")
def table(tmp_path_factory, blobs):
    """A table with ids, four features, a text column and the classes."""
    path = tmp_path_factory.mktemp("tables") / "table.csv"
    lines = ["name,a,b,c,d,e,f,colour,kind"]
    for number, (row, kind) in enumerate(zip(*blobs, strict=True)):
        lines.append(f"sample {number}," + ",".join(map(str, row)) + f",red,{kind}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def run(tmp_path_factory, photos):
    """A finished run on the images."""
    out = tmp_path_factory.mktemp("runs") / "run"
    arguments = [str(photos), "-k", "3", "--labels", "folder", "--out", str(out)]
    quick = ["--pretrain-epochs", "2", "--epochs", "2", "--set", "warmup_epochs=1"]
    result = CliRunner().invoke(app, ["cluster", *arguments, *quick])
    assert result.exit_code == 0, result.output
    return out
