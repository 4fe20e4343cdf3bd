"""Redaction: secrets and, on request, personal data become placeholders before anything is rendered or written.

`redactor` is the entrance; it keeps what it replaced, in memory alone, so that an action can be done with the real
value. What is a secret says `detector`: by the name of its field and its position (`names`, `fields`), by its own form
(`known`, `personal`), or because it is the text of one that was seen before.
"""
