"""Redaction: secrets and, on request, personal data become placeholders before anything is rendered or written.

`redactor` is the entrance; it keeps what it replaced, in memory alone, so that an action can be done with the real
value. What is a secret says `detector`: by the name of its field and its position (`names`, `fields`), by its own form
(`known`, `personal`), or because it is the text of one that was seen before.

What is not found, since it looks like anything else:

- a password in a sentence that does not name it, or that is all letters ("it is swordfish"); one behind a name that
  an invisible character cuts in two; one in a name and value cut apart by a stream that nobody put together;
- cells of CSV and Markdown tables, `INSERT INTO ... VALUES`, lines of a .pgpass, positional arguments in source code,
  `user / password` in prose, `user:password@host` without `scheme://`, flags glued to their value in a list (`-pX`);
- links that open something by their path alone, random keys without a name or a known prefix, values of a Kubernetes
  Secret under names of their own;
- hex, quoted-printable, compressed or encrypted spellings, base64 inside base64 and JSON text inside JSON text deeper
  than a few levels;
- under a secret's own name: blanks and constants (`****`, `${X}`, `"secret"`, `"Password"`), a number of fewer than
  four digits; under a name that may be anything (`key`, `session_id`): what does not look random, UUIDs.
"""
