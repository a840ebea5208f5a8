import copy

import pytest

from infomeans.errors import InputError, Problems


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
