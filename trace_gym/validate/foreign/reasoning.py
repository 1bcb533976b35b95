"""Data sets of reasoning-gym: one question, one answer, and a scorer."""

from __future__ import annotations

from typing import Any, ClassVar

from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.validate.foreign.address import Address, needed, trouble
from trace_gym.validate.foreign.box import BlackBox, Turn

SIZE = 500
"""Entries of one data set, unless the address says otherwise; it is the library's default."""


class ReasoningBox(BlackBox):
    """``reasoning-gym:chain_sum``; options go to the data set's configuration.

    The problem of seed s is entry ``s % size`` of the data set whose seed is s - ``s % size``. The library draws an
    entry from the sum of the two, so another way to divide a seed would meet the same problems again.
    """

    kind: ClassVar[str] = "a data set of reasoning-gym"

    def __init__(self, address: Address) -> None:
        library = needed("reasoning_gym", "reasoning-gym", address)
        if address.name not in (known := needed("reasoning_gym.factory", "reasoning-gym", address).DATASETS):
            raise EnvNotFound(f"reasoning-gym has no data set {address.name}; it has {', '.join(sorted(known))}")
        self.limit = 1
        self.dataset_name, self.options = address.name, {**address.options}
        self.size = self.options.pop("size", SIZE)
        if not isinstance(self.size, int) or self.size < 1 or "seed" in self.options:
            raise ConfigError(f"{address.text}: size must be a positive number, and the seed is the validation's")
        self._create = library.create_dataset
        self._block, self._entry = -1, dict[str, Any]()
        try:
            self._at(0)
        except (TypeError, AssertionError, ValueError) as error:
            raise trouble(address.text, error) from error

    def _at(self, seed: int) -> dict[str, Any]:
        block, index = divmod(seed, self.size)
        if block != self._block:
            made = self._create(self.dataset_name, seed=block * self.size, size=self.size, **self.options)
            self._block, self._dataset = block, made
        entry: dict[str, Any] = self._dataset[index]
        return entry

    def begin(self, seed: int) -> str:
        self._entry = self._at(seed)
        self._score = self._dataset.score_answer
        return str(self._entry["question"])

    def act(self, text: str) -> Turn:
        return Turn("", float(self._score(text, self._entry)), True)

    def solution(self, seed: int) -> list[str] | None:
        answer = self._at(seed)["answer"]
        return None if answer is None else [str(answer)]
