"""Verify a bundle by what schemas/FORMAT.md says, with the standard library alone: `python -S -I FILE BUNDLE`.

It stands for somebody who has the bundle and nothing else. One line of JSON for each episode: result, events, where.
"""

import hashlib
import json
import sys
import zipfile


class Wrong(Exception):
    """Something is not as FORMAT.md says; `seq` is the event concerned."""

    def __init__(self, said: str, seq: int | None = None) -> None:
        super().__init__(said)
        self.seq = seq


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def verify_episode(bundle: zipfile.ZipFile, entry: dict, blobs: set[str]) -> None:
    episode, seq, started_at, ended_at = entry["episode"], 0, None, None
    link = sha256(b"spectrace.v1" + episode.encode())
    for text in bundle.read(f"episodes/{episode}.jsonl").decode().split("\n")[:-1]:
        line = json.loads(text)
        header = line["header"].encode()
        values = json.loads(header)
        if values[:2] != [episode, seq]:
            raise Wrong(f"event {seq} of {episode} was expected, found {values[:2]}", seq)
        if seq == 0 and values[3] not in {"episode.started", "admin.opened"}:
            raise Wrong(f"an episode does not begin with {values[3]}", seq)
        started_at = values[5] if seq == 0 else started_at
        ended_at = values[5] if values[3] == "episode.ended" else ended_at
        if line["body"] is None:
            proof = bytes.fromhex(line["proof"])
        else:
            body = line["body"].encode()
            proof = sha256(bytes.fromhex(line["salt"]) + body)
            for name in references(json.loads(body)):
                if name not in blobs:
                    raise Wrong(f"the text {name} is missing or altered", seq)
        link = sha256(link + sha256(header) + proof)
        if link.hex() != line["link"]:
            raise Wrong("the link is another", seq)
        seq += 1
    if (seq, link.hex()) != (entry["events"], entry["head"]):
        raise Wrong(f"the manifest says {entry['events']} events and another head", seq)
    said = (entry["started_at"], entry["ended_at"], entry["state"] == "ended")
    if said != (started_at, ended_at, ended_at is not None):
        raise Wrong("the manifest says another start or end", seq)


def references(value: object) -> list[str]:
    if isinstance(value, dict):
        if "$blob" in value:
            return [value["$blob"].removeprefix("sha256:")]
        return [name for item in value.values() for name in references(item)]
    return [name for item in value for name in references(item)] if isinstance(value, list) else []


def whole_blobs(bundle: zipfile.ZipFile, manifest: dict) -> set[str]:
    names = [name for name in bundle.namelist() if name.startswith("blobs/sha256/")]
    if len(names) != manifest["blobs"]["count"]:
        raise Wrong("the manifest counts other blobs")
    found = {name.rpartition("/")[2] for name in names}
    return {name for name in found if sha256(bundle.read(f"blobs/sha256/{name}")).hex() == name}


def check_members(bundle: zipfile.ZipFile, manifest: dict) -> None:
    others = {name for name in bundle.namelist() if not name.startswith("blobs/sha256/")} - {"manifest.json"}
    if others != set(manifest["members"]):
        raise Wrong("other members than the manifest names")
    for name, said in manifest["members"].items():
        data = bundle.read(name)
        if (sha256(data).hex(), len(data)) != (said["sha256"], said["bytes"]):
            raise Wrong(f"{name} is not the one that the manifest names")


def main(path: str) -> int:
    results = []
    with zipfile.ZipFile(path) as bundle:
        manifest = json.loads(bundle.read("manifest.json"))
        if manifest["format"] != "spectrace.bundle.v1":
            raise SystemExit(f"unknown format {manifest['format']}")
        blobs = whole_blobs(bundle, manifest)
        for entry in manifest["episodes"]:
            try:
                verify_episode(bundle, entry, blobs)
                results.append({"episode": entry["episode"], "result": "consistent", "seq": None, "detail": None})
            except Wrong as wrong:
                results.append(
                    {"episode": entry["episode"], "result": "invalid", "seq": wrong.seq, "detail": str(wrong)}
                )
        try:
            check_members(bundle, manifest)
        except Wrong as wrong:
            results.append({"episode": None, "result": "invalid", "seq": None, "detail": str(wrong)})
    for result in results:
        sys.stdout.write(json.dumps(result) + "\n")
    return 1 if any(result["result"] == "invalid" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
