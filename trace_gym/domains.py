"""Variants of an environment in other domains of the same benchmark.

Some benchmarks have several domains, such as airline and retail in tau2-bench. Each domain is a `Target`, which
contains the names of the benchmark and of the domain. A variant of an environment trains the same capability in another
domain. The domain `MIXED` is the mixture of all variants.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trace_gym import registry
from trace_gym.errors import EnvNotFound, expect_choice
from trace_gym.targets.base import Target
from trace_gym.targets.catalogue import all_targets

MIXED = "mixed"
"""Name of the domain that combines all other domains of a benchmark."""


def domains() -> list[str]:
    """Return the names that `in_domain` accepts, sorted, with `MIXED` last."""
    return [*sorted({t.domain for t in all_targets() if t.domain}), MIXED]


def in_domain(name: str, domain: str) -> str:
    """Return the variant of an environment or mixture in a domain of the same benchmark.

    The variant of ``tau2_precondition`` in ``retail`` is ``tau2_retail_precondition``. Its variant in ``mixed`` is
    ``tau2_precondition_mixed``, the mixture of both. The variant of a mixture is the mixture of the variants of its
    parts.

    Args:
        name: Name or gymnasium id of an environment or mixture.
        domain: One of `domains`.

    Raises:
        ConfigError: The domain does not exist.
        EnvNotFound: The environment does not exist, or has no variant in the domain.
    """
    expect_choice("domain", domain, domains())
    name = registry.name_of(name)
    targets = {t.name: t for t in all_targets()}
    parts = registry.mixture(name).mixture if name in registry.list_mixtures() else [name]
    variants = {variant for part in parts for variant in _variants(part, domain, targets)}
    if len(variants) == 1:
        return variants.pop()
    for mixture in registry.list_mixtures():
        if variants and registry.mixture(mixture).mixture.keys() == variants:
            return mixture
    why = "".join(f"; {fault}" for fault in dict.fromkeys(_without_domain(parts, targets)))
    raise EnvNotFound(f"{name} has no variant in the domain {domain!r}{why}. The environments are {_listed()}")


def _without_domain(parts: Iterable[str], targets: Mapping[str, Target]) -> Iterator[str]:
    """Yield an error message for each environment whose target is not a domain of a benchmark."""
    for target in (registry.manifest(part).target for part in parts):
        if target not in targets:
            yield f"its target {target!r} is unknown" if target else "it has no target"
        elif not targets[target].domain:
            yield f"its target {target} declares no domain of a benchmark"


def _variants(part: str, domain: str, targets: Mapping[str, Target]) -> Iterable[str]:
    """Yield the environments with the same capability and benchmark in a domain, or in all domains for `MIXED`."""
    manifest = registry.manifest(part)
    target = targets.get(manifest.target)
    if target is None or not target.domain:
        return
    for other in registry.manifests():
        theirs = targets.get(other.target)
        same = theirs and (theirs.benchmark, other.capability) == (target.benchmark, manifest.capability)
        if same and theirs and domain in (MIXED, theirs.domain):
            yield other.id


def _listed() -> str:
    return ", ".join([*registry.list_environments(), *registry.list_mixtures()])
