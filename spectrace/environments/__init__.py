"""Environments: the port in `environment.py`, one adapter a kind."""
