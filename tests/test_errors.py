import copy

import pytest

from infomeans.errors import InputError, Problems, by_reason, visible


def test_all_problems_are_reported_at_once():
    problems = Problems()
    with problems.collect():
        raise InputError("a\nlong one")
    with problems.collect(TypeError):
        raise TypeError("another")
    problems.add("a third")
    with problems.collect():
        problems.add("a third")
    assert problems
    with pytest.raises(InputError) as caught:
        problems.report()
    assert caught.value.problems == ("a long one", "another", "a third")
    assert str(caught.value) == "a long one\nanother\na third"
    assert copy.copy(caught.value).problems == caught.value.problems


def test_no_problem_is_no_error():
    problems = Problems()
    with problems.collect():
        pass
    problems.report()
    assert not problems


def test_other_errors_pass():
    with pytest.raises(KeyError), Problems().collect(TypeError):
        raise KeyError("other")


HEIC = [(f"{i}.heic", "needs an extra") for i in range(5)]


def test_what_is_left_out_stands_under_its_reason():
    left_out = [HEIC[0], ("b.png", "empty"), *HEIC[1:]]
    expected = "0.heic, 1.heic, 2.heic and 2 more (needs an extra); b.png (empty)"
    assert by_reason(left_out) == expected


def test_many_reasons_are_cut_short():
    left_out = [*HEIC[:1], ("a", "1"), ("b", "2"), ("c", "2"), ("d", "3")]
    assert by_reason(left_out, 2) == "0.heic (needs an extra); a (1); 3 more"


def test_control_characters_are_shown_and_not_obeyed():
    text = "a\x1b]0;b\x07\r\n\x7f\x9b\u202e\u2028\u2066\udcff c\td é 漢 😀"
    shown = r"a\x1b]0;b\x07\r\n\x7f\x9b\u202e\u2028\u2066\udcff c\td é 漢 😀"
    assert visible(text) == shown
    assert visible(shown) == shown
    assert str(InputError("x\x1b[2J\nis wrong")) == r"x\x1b[2J is wrong"
