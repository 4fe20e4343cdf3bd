"""The records of the administrative log as one line each. Counterpart of `lines` for what was done to a database."""

from spectrace.core.events import (
    AdminBegun,
    AdminCopied,
    AdminErased,
    AdminImported,
    AdminKeyChanged,
    AdminOpened,
    AdminRestored,
    AdminUnpacked,
    AdminUpgraded,
)


def record_text(body: object) -> str:
    """Say in a few words what a record says; nothing for what is none."""
    match body:
        case AdminOpened(reason=reason, revision=revision, episodes=episodes, previous=previous):
            after = f", after {previous.episode} at {previous.head[:16]}" if previous is not None else ""
            return f"{reason}, revision {revision}, {_counted(episodes)}{after}"
        case AdminUpgraded(from_revision=before, to_revision=after, triggers=triggers, backup=backup):
            done = [f"from revision {before} to {after}"] if before != after else []
            done += [f"triggers put back: {', '.join(triggers)}"] if triggers else []
            done += [f"backup {backup}"] if backup is not None else []
            return "; ".join(done)
        case AdminRestored(backup=backup, backup_digest=digest, replaced=replaced):
            kept = f", what was there is {replaced} now" if replaced is not None else ""
            return f"from {backup}, {digest}{kept}"
        case AdminImported(source=source, episodes=episodes) | AdminUnpacked(source=source, episodes=episodes):
            return f"{_counted(episodes)} from {source}"
        case AdminCopied(source=source, episodes=episodes):
            return f"{_counted(episodes)} from {source}"
        case AdminBegun(what=what, source=source, episodes=episodes):
            return f"{_counted(episodes)} of {source} to be {what}"
        case AdminErased(how=how, events=ranges, blobs=blobs, person=person, reason=reason):
            events = sum(one.last - one.first + 1 for one in ranges)
            where = _counted(len({one.episode for one in ranges}))
            texts = f", {_counted(blobs, 'text')} removed" if blobs else ""
            ordered = (f", ordered by {person}" if person else "") + (f": {reason}" if reason else "")
            return f"{_counted(events, 'event')} of {where} erased ({how}){texts}{ordered}"
        case AdminKeyChanged(what=what, key=key, previous=previous):
            return f"{what} key {key}" + (f", before it {previous}" if previous is not None else ", the first")
        case _:
            return ""


def _counted(number: int, what: str = "episode") -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
