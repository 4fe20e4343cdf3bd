"""Record, replay, re-verify and audit agents whose steps a weak model drafts and a strong model reviews."""

__version__ = "0.1.0"
