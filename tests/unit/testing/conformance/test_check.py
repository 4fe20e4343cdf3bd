from spectrace.testing.conformance.check import Check, Finding, Report, check


def test_the_name_of_a_check_is_its_claim():
    async def it_is_so(subject):
        yield subject

    assert check(it_is_so) == Check("it is so", it_is_so)


def test_a_report_says_every_finding_and_what_was_not_looked_at():
    finding = Finding("it is so", "act()", "it is not", "make it so")
    report = Report("desk", (finding,), ("one", "two"), (("three", "no fingerprint"),))

    assert str(report) == (
        "environment desk: 1 found, 2 claims hold, 1 not looked at\n\n"
        "1. it is so\n  where  act()\n  found  it is not\n  do     make it so\n\n"
        "not looked at: three: no fingerprint"
    )
