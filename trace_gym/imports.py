"""Imports of modules from content that has already been read and checked."""

from __future__ import annotations

import hashlib
import sys
from importlib.machinery import SourceFileLoader
from threading import Lock
from types import CodeType, ModuleType


class CheckedLoader(SourceFileLoader):
    """Loader that executes the given content and ignores the current content of the file and of bytecode caches.

    Args:
        name: Full name of the module.
        path: File from which the content was read.
        source: Content of the file.
    """

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self.source, self.digest = source, hashlib.sha256(source).hexdigest()

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.source, self.path, "exec", dont_inherit=True)


_forgetting = Lock()


def forget(module: ModuleType) -> None:
    """Remove a module from `sys.modules`, unless another thread has imported a module of the same name since."""
    with _forgetting:
        if sys.modules.get(module.__name__) is module:
            del sys.modules[module.__name__]
