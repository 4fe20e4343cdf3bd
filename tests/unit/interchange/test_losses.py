from spectrace.interchange import losses

ALL = {name: value for name, value in vars(losses).items() if name.isupper()}


def test_every_loss_is_one_sentence_of_its_own():
    assert all(value[0].isupper() and value.endswith(".") and "\n" not in value for value in ALL.values())
    assert len(set(ALL.values())) == len(ALL)
