"""Statistics whose unit is the task (PROTOCOL section 7): pure functions of numbers, no log and no clock.

Written here and not taken from a library: SciPy (100 MB) is no part of the base install, and mpmath does not converge
where the parameters pass some thousands. The tests hold every function against SciPy and statsmodels, and every
interval against a truth that is known (`tests/properties/test_coverage.py`).
"""
