"""The tree of the clusters in a real browser."""

import shutil

import pytest

from infomeans.report import write_report
from infomeans.runs import Run


def test_it_shows_what_would_merge_and_part_next(page, image_run):
    (one, other, _), *_ = image_run.tree.merges()
    said = page.inner_text("#tree-next")
    assert f"The next to merge would be cluster {one} and cluster {other}." in said
    (parted, larger, smaller), *_ = image_run.tree.splits()
    assert f"cluster {parted}, into {larger} and {smaller} samples." in said
    assert page.locator("path.join").count() == 2
    page.click("#tree summary")
    assert (
        page.locator("#tree-words li").all_inner_texts()[0] == f"cluster {one} with cluster {other}"
    )


def test_clusters_that_merge_are_side_by_side(page, image_run):
    (one, other, _), *_ = image_run.tree.merges()
    order = [int(name.split()[-1]) for name in page.locator(".branch .name").all_inner_texts()]
    assert sorted(order) == [0, 1, 2]
    assert abs(order.index(one) - order.index(other)) == 1


def test_the_keyboard_opens_a_cluster_and_its_parts(page, image_run):
    (parted, larger, smaller), *_ = image_run.tree.splits()
    page.locator(".branch", has_text=f"cluster {parted}").focus()
    page.keyboard.press("Enter")
    said = page.inner_text("#cluster-tree")
    assert "Would merge first with" in said
    assert f"Would part into {larger} samples like these" in said
    assert f"{smaller} samples like these" in said
    shown = page.eval_on_selector_all(
        "#cluster-tree .thumb", "all => all.map(one => clusterOf[one.dataset.sample])"
    )
    assert set(shown) == {parted}
    page.keyboard.press("Escape")
    assert not page.evaluate("clusterView.open")


def test_names_are_used(page):
    page.fill("#cluster-1 input", "striped")
    page.keyboard.press("Tab")
    page.wait_for_function("() => byId('tree-clusters').innerText.includes('striped')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(show, image_run, scheme):
    page = show(image_run.report, width=390, scheme=scheme)
    edges = page.eval_on_selector_all(
        "#tree-lines svg, .branch", "all => all.map(one => one.getBoundingClientRect().right)"
    )
    assert max(edges) <= 390


def test_a_run_without_a_tree_has_no_such_section(show, image_run, tmp_path):
    copied = tmp_path / "run"
    shutil.copytree(image_run.path, copied)
    (copied / "tree.npz").unlink()
    page = show(write_report(Run(copied)))
    assert page.locator("#tree").count() == 0
    assert page.locator("nav a", has_text="Tree").count() == 0


def test_it_is_named_for_screen_readers(page):
    label = page.get_attribute("#tree-lines svg", "aria-label")
    assert "in words below" in label
    assert page.get_attribute("#tree-clusters", "aria-label").startswith("Clusters")
