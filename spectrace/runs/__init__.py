"""Runs: the one loop and who answers in it: live, from a record, or both."""
