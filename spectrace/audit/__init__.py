"""Audit: the questions that people ask of a log, and whether the log can be believed."""
