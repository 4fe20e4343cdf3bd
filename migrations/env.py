"""Alembic's entry: runs the migrations on the connection that `spectrace.store.migrate` hands over.

Only `spectrace db upgrade` and the first writer of a new database come here, so there is no alembic.ini and no
offline mode.
"""

from alembic import context

from spectrace.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
