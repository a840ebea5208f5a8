from html.parser import HTMLParser

import numpy as np
import pytest

from infomeans.plots.cards import cards_html
from infomeans.plots.palette import COLOURS
from infomeans.plots.thumbnails import Tones


class Page(HTMLParser):
    """The words of a page, the addresses it names, and whether all it opens is closed."""

    def __init__(self, html):
        super().__init__()
        self.words, self.images, self.tags, self.open = [], [], [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "img":
            self.images.append(dict(attrs))
        else:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    @property
    def text(self):
        return " ".join(self.words)


def test_the_heading_tells_the_model_and_its_information():
    page = Page(cards_html("MIADM", np.array([1200, 300]), mi=0.6123))
    assert "MIADM : 2 clusters of 1,500 samples, I(X;K) = 0.612 nats" in page.text
    assert "I(X;K)" not in cards_html("MIADM", np.array([1200, 300]))


@pytest.mark.parametrize("k", [1, 10, 100])
def test_there_is_a_card_for_every_cluster(k):
    rng = np.random.default_rng(0)
    page = Page(cards_html("DEC", np.full(k, 20), np.full(k, 0.9), rng.random((k, 3, 28, 28))))
    assert page.text.count("20 samples, ") == k
    assert page.text.count("mean confidence 0.900") == k
    assert page.tags.count("svg") == k
    assert [image["alt"] for image in page.images] == [
        f"prototype of cluster {c}" for c in range(k)
    ]
    assert len({image["src"] for image in page.images}) == k


def test_a_hundred_cards_are_small_and_need_nothing_from_elsewhere():
    html = cards_html("DEC", np.full(100, 20), np.ones(100), np.zeros((100, 1, 28, 28)))
    assert len(html) < 300_000
    assert "http" not in html
    assert "<script" not in html
    assert all(image["src"].startswith("data:image/") for image in Page(html).images)


def test_cards_take_the_colours_of_the_notebook():
    html = cards_html("DEC", np.array([3, 4]))
    assert "color:inherit" in html
    for fixed in (
        "color:#fff",
        "color:white",
        "color:black",
        "background:#fff",
        "background:white",
    ):
        assert fixed not in html


def test_clusters_of_one_colour_have_other_signs():
    cards = cards_html("DEC", np.full(11, 2)).split("<svg")[1:]
    first, last = (card.split("</svg>")[0] for card in (cards[0], cards[10]))
    assert COLOURS[0] in first
    assert COLOURS[0] in last
    assert first != last


def test_a_hostile_name_stays_text():
    name = "<script>alert('x')</script><img src=x onerror=\"alert(1)\">"
    page = Page(cards_html(name, np.array([1, 2])))
    assert name in page.text
    assert "script" not in page.tags
    assert not page.images


def test_a_cluster_without_samples_has_no_picture_and_no_confidence():
    page = Page(cards_html("DEC", np.array([1, 0]), np.array([0.5, np.nan]), np.ones((2, 1, 8, 8))))
    assert "no samples" in page.text
    assert "1 sample, 100 %" in page.text
    assert "nan" not in page.text
    assert [image["alt"] for image in page.images] == ["prototype of cluster 0"]


def test_pictures_are_painted_in_the_tones_given():
    grey = np.full((1, 1, 8, 8), 0.5)
    painted = cards_html("DEC", np.array([1]), None, grey, tones=Tones(np.array([0.0, 1.0])))
    assert painted != cards_html("DEC", np.array([1]), None, grey)
