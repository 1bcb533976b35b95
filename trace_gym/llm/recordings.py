"""Storage of answers in one JSON file per request, used as a cache for a model or as a recording for a replay."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from trace_gym.errors import ModelError, ReadError
from trace_gym.files import read_bytes, write
from trace_gym.llm.request import Completion, ModelRequest
from trace_gym.parsing import first_fault
from trace_gym.types import Record


class RecordedAnswer(Record):
    """Request with its answer. The answer contains the name of the model."""

    version: int = 1
    """Version of the file format."""
    key: str
    request: ModelRequest
    completion: Completion

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a recording from a file.

        Raises:
            ReadError: The file is not a valid recording, or its request was edited after the recording.
        """
        try:
            read = cls.model_validate_json(read_bytes(path))
        except ValidationError as error:
            raise ReadError(
                f"{path} is not a valid recording ({first_fault(error)}). Delete the file to repeat the request"
            ) from None
        if read.version != 1:
            raise ReadError(
                f"{path} has format version {read.version}, but this version of trace-gym supports only format version "
                "1. Update trace-gym, or delete the file to repeat the request"
            )
        if read.key != read.request.key:
            raise ReadError(
                f"the request in {path} does not match the recorded key, so it was edited. Delete the file to repeat "
                "the request"
            )
        return read


class Recordings:
    """Folder of recordings with the paths ``<model>/<key>.json``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, model: str, request: ModelRequest) -> Completion | None:
        """Return the recorded answer of a model to a request; None if there is none.

        Raises:
            ReadError: The file is damaged.
        """
        path = self._path(model, request.key)
        found = RecordedAnswer.read(path).completion if path.exists() else None
        return found if found and found.model == model else None  # two model names may map to the same folder

    def save(self, request: ModelRequest, completion: Completion) -> None:
        """Write an answer to its file atomically."""
        recording = RecordedAnswer(key=request.key, request=request, completion=completion)
        write(self._path(completion.model, request.key), recording.model_dump_json(indent=1) + "\n")

    def read_all(self) -> list[RecordedAnswer]:
        """Return the recordings of all models in the order of their file names."""
        return [RecordedAnswer.read(path) for path in sorted(self.folder.rglob("*.json"))]

    def _path(self, model: str, key: str) -> Path:
        return self.folder / slug(model) / f"{key}.json"


class ReplayModel:
    """Model that answers only from recordings. A request that was not recorded is an error.

    Args:
        folder: Folder of the recordings.
        by_purpose: If a request was not recorded, for example because the prompt has changed, use the recording with
            the same purpose. The `changed` attribute of the completion is then True.

    Raises:
        ReadError: The folder contains no recordings, a damaged recording, or two different answers to the same request
            or, with `by_purpose`, for the same purpose.
    """

    def __init__(self, folder: Path, by_purpose: bool = False) -> None:
        self.folder = folder
        if not (found := Recordings(folder).read_all() if folder.is_dir() else []):
            raise ReadError(f"{folder} contains no recordings. {_how(folder)}")
        self._known: dict[str, RecordedAnswer] = {}
        for recording in found:
            other = self._known.setdefault(recording.key, recording).completion
            if _content(other) != _content(recording.completion):
                raise ReadError(
                    f"{folder} contains two different answers to the request {recording.request.purpose!r}, by "
                    f"{other.model} and {recording.completion.model}. Pass the folder of only one model, such as "
                    f"{folder / slug(other.model)}"
                )
        self.writers = sorted({r.completion.model for r in found})
        self._of_purpose: dict[tuple[str, int], RecordedAnswer] = {}
        for recording in found if by_purpose else ():
            if recording.request.tools:  # a turn of a conversation depends on the messages before it
                continue
            key = recording.request.purpose, recording.request.sample
            if _content(self._of_purpose.setdefault(key, recording).completion) != _content(recording.completion):
                raise ReadError(
                    f"{folder} contains two different answers to the request {key[0]!r}. Delete the outdated recording"
                )

    @property
    def name(self) -> str:
        """``replay:`` and the models of the recordings."""
        return f"replay:{'+'.join(self.writers)}"

    def complete(self, request: ModelRequest) -> Completion:
        """Return the recorded answer to a request.

        Raises:
            ModelError: The request was not recorded. The message names the most similar recording.
        """
        if recording := self._known.get(request.key):
            return recording.completion.model_copy(update={"cached": True})
        if recording := self._of_purpose.get((request.purpose, request.sample)):
            return recording.completion.model_copy(update={"cached": True, "changed": True})
        raise ModelError(
            f"{self.folder} contains no recorded answer to the request {request.purpose!r}. The folder contains "
            f"{len(self._known)} answers by {', '.join(self.writers)}. {self._nearest(request)}. {_how(self.folder)}"
        )

    def _nearest(self, request: ModelRequest) -> str:
        """Return a sentence about the most similar recording: its first difference, or its purpose if that differs."""
        by_purpose: dict[str, list[ModelRequest]] = {}
        for recording in self._known.values():
            by_purpose.setdefault(recording.request.purpose, []).append(recording.request)
        [purpose] = difflib.get_close_matches(request.purpose, by_purpose, n=1, cutoff=0.0)
        if purpose != request.purpose:
            return f"The most similar recorded purpose is {purpose!r}"
        differences = [_difference(known, request) for known in by_purpose[purpose]]
        return f"The recorded request for this purpose is different: {min(differences, key=len)}"


def slug(text: str) -> str:
    """Return a text as a file name, with all unsuitable characters replaced."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-.")[:80] or "unnamed"


def _content(completion: Completion) -> tuple[object, ...]:
    return completion.model, completion.text, completion.tool_calls


def _difference(known: ModelRequest, request: ModelRequest) -> str:
    """Return a description of the first difference between two requests."""
    for name in ("sample", "seed", "temperature", "max_tokens", "answer"):
        then, now = getattr(known, name), getattr(request, name)
        if then != now:
            return f"its {name} was {then}, and is {now}" if name != "answer" else "its answer had another schema"
    if known.tools != request.tools:
        return "it had other tools"
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
    return f"To record answers, run the same command with the model openai:MODEL and the cache {folder}"
