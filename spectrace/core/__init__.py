"""The pure core: protocols as generators, the event vocabulary, digests. No clock, randomness, I/O, SQL or SDK."""
