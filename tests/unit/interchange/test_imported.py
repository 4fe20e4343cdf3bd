from spectrace.interchange.imported import episode_id


def test_an_entry_of_a_file_in_a_format_has_one_id_and_no_other_has_it():
    ids = [
        episode_id(*one) for one in (("tau2", "00", "1"), ("tau2", "01", "1"), ("tau2", "00", "2"), ("x", "00", "1"))
    ]

    assert ids[0] == episode_id("tau2", "00", "1")
    assert len(set(ids)) == 4


def test_an_id_of_before_formats_were_several_is_still_the_same():
    assert episode_id("tau2", "sha256:00", "sim-1") == "079b0c1774b0f960"
