"""Verify a bundle by what schemas/FORMAT.md says, with the standard library alone: `python -S -I FILE BUNDLE [KEY]`.

It stands for somebody who has the bundle and nothing else; with a public key (a vkey), which needs the package
`cryptography`, for somebody who trusts its owner. One line of JSON for each episode: result, events, where.
"""

import base64
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


def verify_episode(bundle: zipfile.ZipFile, entry: dict, blobs: set[str], erased: list[dict]) -> list[dict]:
    """Return the lines of an episode that passes (FORMAT.md, sections 2, 3 and 6)."""
    episode, seq, started_at, ended_at, lines = entry["episode"], 0, None, None, []
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
        lines.append(line)
        if line["body"] is None:
            if not any(one["episode"] == episode and one["first"] <= seq <= one["last"] for one in erased):
                raise Wrong("the body is missing, and no erasure of it is on record", seq)
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
    return lines


def recorded_erasures(lines: list[dict]) -> list[dict]:
    """Return the ranges that an administrative log says were erased."""
    found = []
    for line in lines:
        if json.loads(line["header"])[3] == "admin.erased":
            found += json.loads(line["body"])["events"]
    return found


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right)


def root(leaves: list[bytes]) -> bytes:
    """Return the root of a tree over leaf hashes (section 9)."""
    if len(leaves) < 2:
        return leaves[0] if leaves else sha256(b"")
    k = 1 << ((len(leaves) - 1).bit_length() - 1)
    return node(root(leaves[:k]), root(leaves[k:]))


def root_by_proof(leaf: bytes, index: int, size: int, hashes: list[bytes]) -> bytes | None:
    """Return the root that an audit path leads to (RFC 9162, 2.1.3.2)."""
    last, found = size - 1, leaf
    for one in hashes:
        if last == 0:
            return None
        if index % 2 or index == last:
            found = node(one, found)
            while index and index % 2 == 0:
                index, last = index >> 1, last >> 1
        else:
            found = node(found, one)
        index, last = index >> 1, last >> 1
    return found if last == 0 else None


class Checkpoint:
    """The checkpoint of a bundle, once its signature and its leaves are found to be right (sections 9 to 11)."""

    def __init__(self, bundle: zipfile.ZipFile, key: str) -> None:
        note = json.loads(bundle.read("checkpoints/checkpoint.json"))["note"]
        self.text = signed(note, key)
        self.leaves = [leaf.encode() for leaf in json.loads(bundle.read("checkpoints/leaves.json"))]
        hashes = [sha256(b"\0" + leaf) for leaf in self.leaves]
        _, size, top, *_ = self.text.split("\n")
        if int(size) != len(hashes) or base64.b64decode(top) != root(hashes):
            raise Wrong("the leaves are not those that were signed")
        self.newest = {json.loads(leaf)[0]: place for place, leaf in enumerate(self.leaves)}
        for episode, proof in json.loads(bundle.read("checkpoints/proofs.json")).items():
            place, path = proof["index"], [base64.b64decode(one) for one in proof["hashes"]]
            found = root_by_proof(hashes[place], place, len(hashes), path)
            if place != self.newest[episode] or found != root(hashes):
                raise Wrong(f"the proof of {episode} proves nothing")

    def compare(self, episode: str, lines: list[dict]) -> int | None:
        """Return the last event that the newest leaf covers; None without a leaf."""
        if episode not in self.newest:
            return None
        told = json.loads(self.leaves[self.newest[episode]])
        events, part = told[5], lines[: told[5]]
        if len(part) < events or part[-1]["link"] != told[7]:
            raise Wrong("it is shorter than when it was signed, or another", len(part))
        headers = [json.loads(line["header"]) for line in part]
        ended = [header for header in headers if header[3] == "episode.ended"]
        administrative = headers[0][3] == "admin.opened"
        status = "administrative" if administrative else ended[-1][8] if ended else "open"
        writes = sum(header[3] == "act.requested" and header[6] == "write" for header in headers)
        found = [ended[-1][5] if ended else None, status, events, writes]
        if found != told[3:7] or told[2] != headers[0][5]:
            raise Wrong("its leaf says something else", 0)
        if not administrative and part[0]["body"] is not None and told[1] != json.loads(part[0]["body"])["project"]:
            raise Wrong("its leaf says another project", 0)
        return events - 1

    def left_out(self, period: dict, there: set[str]) -> list[str]:
        """Return the runs of a period that are not there."""
        since, until = period["since"], period["until"]
        found = []
        for episode, place in self.newest.items():
            _, _, started_at, _, status, *_ = json.loads(self.leaves[place])
            within = (since is None or since <= started_at) and (until is None or started_at < until)
            if within and status != "administrative" and episode not in there:
                found.append(episode)
        return found


def signed(note: str, key: str) -> str:
    """Return the text of a note that this key signed (section 10)."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    name, key_id, material = key.split("+", 2)
    data = base64.b64decode(material)
    text, _, signatures = note.rpartition("\n\n")
    text += "\n"
    if sha256(name.encode() + b"\n" + data)[:4].hex() != key_id or data[:1] != b"\1":
        raise Wrong("the key is none")
    for line in signatures.splitlines():
        _, by, encoded = line.split(" ")
        found = base64.b64decode(encoded)
        if by == name and found[:4].hex() == key_id:
            try:
                Ed25519PublicKey.from_public_bytes(data[1:]).verify(found[4:], text.encode())
            except InvalidSignature:
                raise Wrong("the signature is not of this text") from None
            return text
    raise Wrong("the key did not sign this")


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


def result(episode: str | None, word: str, wrong: Wrong | None = None, covered_to: int | None = None) -> dict:
    seq, detail = (None, None) if wrong is None else (wrong.seq, str(wrong))
    return {"episode": episode, "result": word, "seq": seq, "detail": detail, "covered_to": covered_to}


def verify(bundle: zipfile.ZipFile, key: str | None) -> list[dict]:
    manifest = json.loads(bundle.read("manifest.json"))
    if manifest["format"] != "spectrace.bundle.v1":
        raise SystemExit(f"unknown format {manifest['format']}")
    results: list[dict] = []
    of_the_file: list[dict] = []
    checkpoint = None
    try:
        check_members(bundle, manifest)
        checkpoint = None if key is None else Checkpoint(bundle, key)
    except Wrong as wrong:
        of_the_file.append(result(None, "invalid", wrong))
    blobs, erased = whole_blobs(bundle, manifest), []
    # What was erased say the administrative logs, so they come first.
    for entry in sorted(manifest["episodes"], key=lambda one: not one["episode"].startswith("admin-")):
        episode = entry["episode"]
        try:
            lines = verify_episode(bundle, entry, blobs, erased)
            covered_to = None if checkpoint is None else checkpoint.compare(episode, lines)
            erased += recorded_erasures(lines)
            results.append(result(episode, "consistent" if covered_to is None else "valid", None, covered_to))
        except Wrong as wrong:
            results.append(result(episode, "invalid", wrong))
    if checkpoint is not None and "period" in manifest:
        there = {entry["episode"] for entry in manifest["episodes"]}
        results += [result(one, "invalid", Wrong("left out")) for one in checkpoint.left_out(manifest["period"], there)]
    return results + of_the_file


def main(path: str, key: str | None = None) -> int:
    with zipfile.ZipFile(path) as bundle:
        results = verify(bundle, key)
    for one in results:
        sys.stdout.write(json.dumps(one) + "\n")
    return 1 if any(one["result"] == "invalid" for one in results) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
