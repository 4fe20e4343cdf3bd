from spectrace.store.jobs import queue_key


def test_a_queue_is_named_after_its_run():
    assert queue_key("again") == queue_key("again") != queue_key("Again")


def test_any_run_has_a_queue_whose_channel_postgres_can_announce():
    names = ["", "x" * 5000, "ünïcödé", "a'b\"; DROP TABLE events", "\ud800"]

    assert all(len(f"procrastinate_queue_v1#{queue_key(name)}") < 63 for name in names)
    assert len({queue_key(name) for name in names}) == len(names)
