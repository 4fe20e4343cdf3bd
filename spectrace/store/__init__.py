"""The log: an append-only event store on SQLite and Postgres alike."""
