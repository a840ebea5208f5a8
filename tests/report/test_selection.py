import json

import numpy as np

from infomeans.report import selection, write_report
from infomeans.report.selection import select


def test_few_samples_are_all_there():
    assert select(np.zeros(50, int), [[3]], ["x"] * 50, seed=0).tolist() == list(range(50))


def test_of_many_samples_some_of_each_cluster_and_the_mentioned_ones_are_there(monkeypatch):
    monkeypatch.setattr(selection, "MOST_POINTS", 100)
    clusters = np.zeros(10_000, int)
    clusters[[7, 5000, 9000]] = 1
    clusters[9999] = 3
    ids = [str(i) for i in range(10_000)]
    chosen = select(clusters, [[11, 12], [13]], ids, seed=0)
    assert len(chosen) == 100
    assert {7, 5000, 9000, 9999, 11, 12, 13} <= set(chosen.tolist())
    assert (np.diff(chosen) > 0).all()
    assert np.array_equal(chosen, select(clusters, [[11, 12], [13]], ids, seed=0))
    assert not np.array_equal(chosen, select(clusters, [[11, 12], [13]], ids, seed=1))


def test_long_ids_leave_room_for_fewer_samples(monkeypatch):
    monkeypatch.setattr(selection, "MOST_ID_BYTES", 1000)
    assert len(select(np.zeros(50, int), [], ["é" * 50] * 50, seed=0)) == 10


def test_the_page_says_that_it_has_a_selection(image_run, tmp_path, monkeypatch):
    monkeypatch.setattr(selection, "MOST_POINTS", 100)
    path = write_report(image_run, tmp_path / "some.html")
    text = path.read_text(encoding="utf-8")
    page = json.loads(text.split('id="content">', 1)[1].split("</script>", 1)[0])
    assert "search by id have 1" in text
    assert "of the 120 samples are drawn" in text
    assert sum(card["size"] for card in page["clusters"]) == 120
