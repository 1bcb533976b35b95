"""Imports of modules from content that was read and checked before."""

from __future__ import annotations

import hashlib
import sys
from importlib.machinery import SourceFileLoader
from threading import Lock
from types import CodeType, ModuleType


class CheckedLoader(SourceFileLoader):
    """Loader that runs the given content, whatever the file or a bytecode cache holds now.

    Args:
        name: Full name of the module.
        path: File that the content was read from.
        source: The content.
    """

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self.source, self.digest = source, hashlib.sha256(source).hexdigest()

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec", dont_inherit=True)


_forgetting = Lock()


def forget(module: ModuleType) -> None:
    """Let the next import of a module's name run its file again, unless another thread has imported one since."""
    with _forgetting:
        if sys.modules.get(module.__name__) is module:
            del sys.modules[module.__name__]
