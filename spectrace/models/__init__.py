"""Model clients: the port in `client.py`, one adapter a provider."""
