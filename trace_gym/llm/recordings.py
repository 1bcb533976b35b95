"""Answers on disk, one JSON file a request: a cache while it is written, a recording when it is replayed."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from trace_gym.errors import ModelError, ReadError
from trace_gym.files import read_bytes, write
from trace_gym.llm.request import Completion, Request
from trace_gym.parsing import first_fault
from trace_gym.types import Record


class Recording(Record):
    """A request and its answer, which says what wrote it."""

    version: int = 1
    """Of this format."""
    key: str
    request: Request
    completion: Completion

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read one file.

        Raises:
            ReadError: It is no recording, or its request was changed after it was answered.
        """
        try:
            read = cls.model_validate_json(read_bytes(path))
        except ValidationError as error:
            raise ReadError(f"{path} is no recording ({first_fault(error)}); delete it to ask again") from None
        if read.version != 1:
            raise ReadError(f"{path} is a recording of version {read.version}; this trace-gym reads version 1")
        if read.key != read.request.key:
            raise ReadError(f"{path}: its request is not the one that was answered; delete it to ask again")
        return read


class Recordings:
    """A folder of recordings: ``<model>/<key>.json``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, model: str, request: Request) -> Completion | None:
        """What this model answered before.

        Raises:
            ReadError: The file is damaged.
        """
        path = self._path(model, request.key)
        found = Recording.read(path).completion if path.exists() else None
        return found if found and found.model == model else None  # two names may make one folder

    def save(self, request: Request, completion: Completion) -> None:
        """Keep an answer: all of it or, when the process dies, nothing."""
        recording = Recording(key=request.key, request=request, completion=completion)
        write(self._path(completion.model, request.key), recording.model_dump_json(indent=1) + "\n")

    def read_all(self) -> list[Recording]:
        """Every recording, of whatever model, in the order of the file names."""
        return [Recording.read(path) for path in sorted(self.folder.rglob("*.json"))]

    def _path(self, model: str, key: str) -> Path:
        return self.folder / slug(model) / f"{key}.json"


class Replay:
    """Answers from recordings alone; a request that was not recorded is an error.

    Args:
        folder: Of recordings.
        by_purpose: Take what was recorded for the same purpose where the very request was not recorded. For answers
            whose prompts have changed since; each such completion says so.

    Raises:
        ReadError: There are no recordings, a damaged one, or two answers to one request (or, `by_purpose`, to one
            purpose).
    """

    def __init__(self, folder: Path, by_purpose: bool = False) -> None:
        self.folder = folder
        if not (found := Recordings(folder).read_all() if folder.is_dir() else []):
            raise ReadError(f"{folder} holds no recordings; {_how(folder)}")
        self._known: dict[str, Recording] = {}
        for recording in found:
            other = self._known.setdefault(recording.key, recording).completion
            if other.model != recording.completion.model or other.text != recording.completion.text:
                raise ReadError(
                    f"{folder} holds two answers to {recording.request.purpose!r}, by {other.model} and "
                    f"{recording.completion.model}; replay the folder of one model, such as "
                    f"{folder / slug(other.model)}"
                )
        self.writers = sorted({r.completion.model for r in found})
        self._of_purpose: dict[tuple[str, int], Recording] = {}
        for recording in found if by_purpose else ():
            asked = recording.request.purpose, recording.request.sample
            if self._of_purpose.setdefault(asked, recording).completion.text != recording.completion.text:
                raise ReadError(f"{folder} holds two answers for {asked[0]!r}; delete the one that was given up")

    @property
    def name(self) -> str:
        """``replay:`` and what wrote the recordings."""
        return f"replay:{'+'.join(self.writers)}"

    def complete(self, request: Request) -> Completion:
        """The recorded answer.

        Raises:
            ModelError: There is none; names the nearest and how to record.
        """
        if recording := self._known.get(request.key):
            return recording.completion.model_copy(update={"cached": True})
        if recording := self._of_purpose.get((request.purpose, request.sample)):
            return recording.completion.model_copy(update={"cached": True, "changed": True})
        raise ModelError(
            f"no answer to {request.purpose!r} is recorded in {self.folder}, which holds {len(self._known)} by "
            f"{', '.join(self.writers)}. {self._nearest(request)}; {_how(self.folder)}"
        )

    def _nearest(self, request: Request) -> str:
        """What was recorded for the same purpose, and where it differs, or for the purpose with the nearest name."""
        by_purpose: dict[str, list[Request]] = {}
        for recording in self._known.values():
            by_purpose.setdefault(recording.request.purpose, []).append(recording.request)
        [purpose] = difflib.get_close_matches(request.purpose, by_purpose, n=1, cutoff=0.0)
        if purpose != request.purpose:
            return f"The nearest recorded purpose is {purpose!r}"
        differences = [_difference(known, request) for known in by_purpose[purpose]]
        return f"It is recorded with another request: {min(differences, key=len)}"


def slug(text: str) -> str:
    """A text as part of a file name."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:80] or "unnamed"


def _difference(known: Request, request: Request) -> str:
    """Where two requests differ first."""
    for name in ("sample", "seed", "temperature", "max_tokens", "answer"):
        then, now = getattr(known, name), getattr(request, name)
        if then != now:
            return f"its {name} was {then}, and is {now}" if name != "answer" else "its answer had another schema"
    if len(known.messages) != len(request.messages):
        return f"it had {len(known.messages)} messages, and has {len(request.messages)}"
    number, then, now = next(
        (n, str(a.get("content")), str(b.get("content")))
        for n, (a, b) in enumerate(zip(known.messages, request.messages, strict=True), 1)
        if a != b
    )
    at = next((n for n, (a, b) in enumerate(zip(then, now, strict=False)) if a != b), min(len(then), len(now)))
    return f"message {number} had {then[at : at + 40]!r} at character {at}, and has {now[at : at + 40]!r}"


def _how(folder: Path) -> str:
    return f"to record, run the same with openai:MODEL and {folder} as its cache"
