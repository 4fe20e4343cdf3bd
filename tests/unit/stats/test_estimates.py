from spectrace.stats.estimates import Cluster, Estimate, clustered, episodes, mean


def test_values_are_grouped_by_task_in_order():
    assert clustered([("b", 1), ("a", 0), ("b", 0)]) == {"b": Cluster(2, 1.0), "a": Cluster(1, 0.0)}


def test_the_mean_is_over_episodes():
    groups = clustered([("a", 1), ("a", 1), ("a", 1), ("b", 0)]).values()

    assert (mean(groups), episodes(groups)) == (0.75, 4)


def test_an_estimate_without_interval_covers_nobody_knows_what():
    bare = Estimate(value=0.5, n=4, clusters=4, method="none")

    assert (bare.spans, bare.covers(0)) == (False, None)


def test_an_interval_covers_its_ends():
    whole = Estimate(value=0.5, low=0.0, high=1.0, n=40, clusters=40, method="m")

    assert (whole.spans, whole.covers(0), whole.covers(1.1)) == (True, True, False)
