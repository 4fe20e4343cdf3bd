import pytest

from spectrace.audit.records import record_text
from spectrace.core.admin_events import (
    AdminBegun,
    AdminCopied,
    AdminErased,
    AdminImported,
    AdminKeyChanged,
    AdminOpened,
    AdminRestored,
    AdminUnpacked,
    AdminUpgraded,
    EpochHead,
    ErasedRange,
)
from spectrace.core.episode_events import StartedBy

WHO = {"by": StartedBy("ana", "host"), "spectrace": "0.1.0"}
FROM = {**WHO, "source": "other.zip", "source_digest": None, "selection_digest": "sha256:00"}
OLD = EpochHead("admin-0123456789ab", 4, "ab" * 32)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (AdminOpened(**WHO, reason="created", revision="0002", episodes=0), "created, revision 0002, 0 episodes"),
        (
            AdminOpened(**WHO, reason="restored", revision="0002", episodes=1, previous=OLD),
            "restored, revision 0002, 1 episode, after admin-0123456789ab at abababababababab",
        ),
        (
            AdminUpgraded(**WHO, from_revision="0001", to_revision="0002", backup="log.db.backup"),
            "from revision 0001 to 0002; backup log.db.backup",
        ),
        (
            AdminUpgraded(**WHO, from_revision="0002", to_revision="0002", triggers=("a", "b")),
            "triggers put back: a, b",
        ),
        (
            AdminRestored(
                **WHO,
                backup="b.db",
                backup_digest="sha256:11",
                backup_revision="0001",
                replaced="log.db.replaced",
                replaced_digest="sha256:22",
                replaced_epoch=OLD,
            ),
            "from b.db, sha256:11, what was there is log.db.replaced now",
        ),
        (AdminImported(**FROM, episodes=1), "1 episode from other.zip"),
        (AdminUnpacked(**FROM, episodes=2), "2 episodes from other.zip"),
        (AdminCopied(**FROM, episodes=2), "2 episodes from other.zip"),
        (
            AdminBegun(**WHO, what="copied", source="other.db", source_digest=None, episodes=2),
            "2 episodes of other.db to be copied",
        ),
        (
            AdminErased(
                **WHO,
                person="Ana",
                reason="asked by the customer",
                how="matching",
                events=(ErasedRange("ep1", 3, 4), ErasedRange("ep2", 7, 7)),
                blobs=1,
            ),
            "3 events of 2 episodes erased (matching), 1 text removed, ordered by Ana: asked by the customer",
        ),
        (
            AdminErased(**WHO, person=None, reason=None, how="before", events=(ErasedRange("ep1", 0, 0),), blobs=0),
            "1 event of 1 episode erased (before)",
        ),
        (AdminKeyChanged(**WHO, what="checkpoint", key="b+1+c", previous=None), "checkpoint key b+1+c, the first"),
        (
            AdminKeyChanged(**WHO, what="redaction", key="22", previous="11"),
            "redaction key 22, before it 11",
        ),
    ],
)
def test_each_record_has_its_line(body, text):
    assert record_text(body) == text
