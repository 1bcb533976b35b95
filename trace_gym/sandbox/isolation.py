"""Check that files and the network are isolated before running code that has not passed validation."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence

from trace_gym.errors import SandboxError
from trace_gym.registration import ALLOW_UNISOLATED as ALLOW
from trace_gym.registration import ALLOW_UNISOLATED_FLAG as FLAG
from trace_gym.sandbox.layer_list import LANDLOCK, NAMESPACES, SECCOMP, Layer

NEEDED = {"files": (NAMESPACES, LANDLOCK), "network": (NAMESPACES, SECCOMP)}
"""Mapping from each resource to the layers of the sandbox that isolate it. One of these layers is sufficient."""
REMEDIES = {
    NAMESPACES: "namespaces: allow unprivileged user namespaces (sysctl -w kernel.unprivileged_userns_clone=1 "
    "kernel.apparmor_restrict_unprivileged_userns=0, as far as your kernel has these settings), or in a container run "
    "it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
    LANDLOCK: "landlock: use Linux 5.13 or later with landlock in the list of lsm= on the kernel command line",
    SECCOMP: "seccomp: use Linux on x86_64 or aarch64",
}

_log = logging.getLogger(__name__)


def allowed() -> bool:
    """Return whether the user has permitted unadmitted code to run without isolation."""
    return os.environ.get(ALLOW, "") == "1"


def exposed(layers: Sequence[Layer]) -> dict[str, tuple[str, ...]]:
    """Return the resources that the active layers do not isolate, with the layers that would isolate them."""
    active = {layer.name for layer in layers if layer.active}
    return {what: names for what, names in NEEDED.items() if not active & {*names}}


def refuse_without_isolation(layers: Sequence[Layer]) -> None:
    """Check that files and network are isolated.

    Raises:
        SandboxError: A resource is not isolated, and the user has not permitted running without isolation.
    """
    if not (unmet := exposed(layers)):
        return
    wanted = "; ".join(f"isolation of the {what} requires {' or '.join(names)}" for what, names in unmet.items())
    if allowed():
        _log.warning("the sandbox is not isolated (%s), and %s=1 permits it", wanted, ALLOW)
        return
    lacking = list(dict.fromkeys(name for names in unmet.values() for name in names))
    why = "; ".join(f"{layer.name}: {layer.message}" for layer in layers if layer.name in lacking)
    raise SandboxError(
        "the code was not run, because it has not been validated and admitted, and this machine cannot isolate it. "
        f"None of these mechanisms is available: {', '.join(lacking)} ({why}), but {wanted}. To enable a "
        f"mechanism: {'. Or '.join(REMEDIES[name] for name in lacking)}. On macOS and Windows, use a Linux container "
        f"or virtual machine. To run the code without isolation, with all your permissions, pass {FLAG} or set "
        f"{ALLOW}=1"
    )
