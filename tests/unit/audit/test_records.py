import pytest

from spectrace.audit.records import record_text
from spectrace.core.admin_events import (
    AdminBegun,
    AdminCopied,
    AdminImported,
    AdminOpened,
    AdminRestored,
    AdminUnpacked,
    AdminUpgraded,
    EpochHead,
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
    ],
)
def test_each_record_has_its_line(body, text):
    assert record_text(body) == text
