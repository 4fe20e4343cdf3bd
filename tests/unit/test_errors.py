"""The tree of errors is the one that its docstring draws."""

import inspect

from spectrace import errors


def classes():
    return {name: item for name, item in vars(errors).items() if inspect.isclass(item)}


def test_every_class_is_drawn_under_its_parent():
    drawn, stack = {}, {}
    for line in (errors.__doc__ or "").splitlines():
        name = line.strip().split(" ")[0]
        if name in classes():
            depth = len(line) - len(line.lstrip())
            drawn[name] = next((stack[above] for above in sorted(stack, reverse=True) if above < depth), "Exception")
            stack = {above: other for above, other in stack.items() if above < depth} | {depth: name}

    assert drawn == {name: item.__mro__[1].__name__ for name, item in classes().items()}


def test_a_missing_extra_says_what_to_install():
    assert str(errors.MissingExtra("The viewer", "viewer")) == (
        "The viewer needs a package that is not installed: pip install 'spectrace[viewer]'."
    )


def test_a_failed_model_call_keeps_what_arrived():
    failed = errors.ModelFailed("timeout", "too slow", partial_text='{"verdict"', latency_us=5)

    assert (failed.kind, str(failed), failed.partial_text, failed.latency_us) == (
        "timeout",
        "too slow",
        '{"verdict"',
        5,
    )
