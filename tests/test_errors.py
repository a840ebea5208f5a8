from infomeans.errors import by_reason

HEIC = [(f"{i}.heic", "needs an extra") for i in range(5)]


def test_what_is_left_out_stands_under_its_reason():
    left_out = [HEIC[0], ("b.png", "empty"), *HEIC[1:]]
    expected = "0.heic, 1.heic, 2.heic and 2 more (needs an extra); b.png (empty)"
    assert by_reason(left_out) == expected


def test_many_reasons_are_cut_short():
    left_out = [*HEIC[:1], ("a", "1"), ("b", "2"), ("c", "2"), ("d", "3")]
    assert by_reason(left_out, 2) == "0.heic (needs an extra); a (1); 3 more"
