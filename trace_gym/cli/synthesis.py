"""The command `synthesize`, which generates environments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from trace_gym import terminal
from trace_gym.cli.options import AllowUnisolated, ReaderOption, Reviewer, reject_options
from trace_gym.errors import ConfigError, TraceGymError
from trace_gym.files import read_text
from trace_gym.locks import working_in
from trace_gym.targets import DEFAULT_TARGET
from trace_gym.terminal import say

if TYPE_CHECKING:
    from trace_gym.llm import Model
    from trace_gym.synthesis import ValidationConfig
    from trace_gym.types import Manifest, Spec

    WriteFunction = Callable[[Model, ValidationConfig], None]
    """Function that generates the environments."""

RECORDED = "recorded"
"""Author that replays the recorded answers of the package."""


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(synthesize)


def synthesize(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            help="Name of an environment with recorded answers; for --author llm, an environment or a spec file.",
            show_default=False,
        ),
    ] = None,
    author: Annotated[
        str,
        typer.Option(
            help="Author of the environments: recorded (replays recorded answers of a language model) or llm (the "
            "model of --llm)."
        ),
    ] = RECORDED,
    llm: Annotated[
        str, typer.Option(help="Model for --author llm: openai:MODEL, openai:MODEL@URL, replay:DIR or files:DIR.")
    ] = "",
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Capabilities to write environments for: a diagnosis, or a JSON or YAML list (name, description).",
        ),
    ] = None,
    target: Annotated[
        str, typer.Option(help="Target whose interface the environments use: a name, or the folder of a custom target.")
    ] = DEFAULT_TARGET,
    trajectories: Annotated[
        Path | None, typer.Option(help="Episodes that the evidence of the diagnosis refers to.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output folder for modules and manifests.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Generate all environments with recorded answers.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Regenerate and validate unchanged environments.")] = False,
    repairs: Annotated[int, typer.Option(min=0, help="Maximum number of repair attempts per module.")] = 3,
    policy: Annotated[
        str,
        typer.Option(
            help="Policy whose rewards must vary within groups: openai:MODEL[@URL], hf:MODEL[+ADAPTER], mixture:P, "
            "rollouts:FILE, or the name of a scripted policy."
        ),
    ] = "",
    seconds: Annotated[
        float, typer.Option(min=1, help="Time limit in seconds for validating one version of a module.")
    ] = 300.0,
    workers: Annotated[int, typer.Option(min=1, help="Number of environments that are generated in parallel.")] = 2,
    tokens: Annotated[int | None, typer.Option(min=1, help="Budget in tokens for all requests to a model.")] = None,
    dollars: Annotated[float | None, typer.Option(min=0, help="Budget in US dollars; requires --price.")] = None,
    price: Annotated[
        str, typer.Option(help="US dollars per million tokens as prompt/completion, such as 0.5/1.5.")
    ] = "",
    by: Annotated[
        str, typer.Option(help="Name of the person or program that answers files:DIR; recorded in the manifest.")
    ] = "",
    reviewer: Reviewer = "",
    solver: Annotated[
        str,
        typer.Option(
            help="Model that solves scenarios of an environment that passed the other checks, or none. By default, the "
            "model of --llm in separate conversations, unless it is replayed."
        ),
    ] = "",
    reader: ReaderOption = "",
    allow_unisolated: AllowUnisolated = False,
) -> None:
    """Generate environments and admit those that pass validation.

    Example: trace-gym synthesize tau2_baggage_allowance --out my_envs

    From a diagnosis:  trace-gym synthesize --from diagnosis.json --out my_envs

    With a model:  trace-gym synthesize --from diagnosis.json --author llm --llm openai:gpt-4o --out my_envs

    For a custom target, first write its base world:  trace-gym synthesize --target my_target --author llm --llm MODEL
    """
    from trace_gym import registry
    from trace_gym.sandbox import require_isolation
    from trace_gym.synthesis import ValidationConfig

    target, own = _resolve_target(target)
    _refuse_unused(context, author, name, source, every, own)
    require_isolation()
    folder = out or own or registry.home()
    if author == RECORDED:
        llm, write = _replay_of_recordings(name, source, target, every, folder, repairs, workers, force)
    elif author != "llm":
        raise ConfigError(f"--author is not valid: found {author!r}, expected {RECORDED} or llm")
    elif not llm:
        raise ConfigError("--author llm requires a model. Add --llm openai:MODEL, --llm replay:DIR or --llm files:DIR")
    else:
        write = _plan_model_work(name, source, trajectories, target, own, folder, repairs, workers, force)
    with working_in(folder):
        from trace_gym.llm.model_uri import solver_uri
        from trace_gym.llm.opening import open_models
        from trace_gym.review import Checkers
        from trace_gym.synthesis.admission import CANDIDATES

        author_uri = "" if source is None and name is None else llm  # no scenarios of a base world are solved
        uris = [reviewer, solver_uri(solver, author_uri), reader]
        if reader and not any(uris[:2]):
            raise ConfigError("--reader has no effect without --reviewer or --solver. Add one of them")
        limits: dict[str, Any] = {"tokens": tokens, "dollars": dollars, "price": price}
        with open_models(llm, uris, folder / CANDIDATES, _log, answered_by=by, **limits) as (model, others):
            write(model, ValidationConfig(budget=seconds, policy=policy, checkers=Checkers(*others)))


def _refuse_unused(
    context: typer.Context, author: str, name: str | None, source: Path | None, every: bool, own: Path | None
) -> None:
    """Raise an error for options that have no effect on the generated environments.

    Raises:
        ConfigError: An option has no effect.
    """
    first = "--from" if source is not None else "--all" if every else "NAME"
    reject_options(context, {"--from": {"name", "every"}, "--all": {"name"}}.get(first, ()), f"together with {first}")
    if author == RECORDED:
        model = {"llm", "trajectories", "tokens", "dollars", "price", "by"}
        reject_options(context, model, f"on author {RECORDED}")
    elif author == "llm":
        reject_options(context, {"every"}, "on author llm")
    if source is None:
        reject_options(context, {"trajectories", "workers"} - ({"workers"} if every else set()), "without --from")
        if own is None:
            reject_options(context, {"target"}, "without --from, because a spec contains its target")
    if author == "llm" and source is None and name is None:
        reject_options(context, {"force", "policy"}, "on a base world")


def _plan_model_work(
    name: str | None,
    source: Path | None,
    trajectories: Path | None,
    target: str,
    own: Path | None,
    folder: Path,
    repairs: int,
    workers: int,
    force: bool,
) -> WriteFunction:
    """Read all inputs, and return the function that generates the environments with a model."""
    if source is not None:
        from trace_gym.synthesis.capabilities import read_capabilities
        from trace_gym.synthesis.synthesize_many import SynthesisRequest, write_all
        from trace_gym.targets.results import read_results

        wanted, known = read_capabilities(source), list(read_results(trajectories)) if trajectories else []

        def write_capabilities(model: Model, validation: ValidationConfig) -> None:
            order = SynthesisRequest(wanted, target, model, folder, validation, repairs, known, force)
            _print_results(write_all(order, workers, _log), folder)

        return write_capabilities
    if name is not None:
        from trace_gym.synthesis import synthesize as write
        from trace_gym.synthesis.llm_author import LlmAuthor

        spec = _read_spec(name)

        def write_spec(model: Model, validation: ValidationConfig) -> None:
            _print_manifest(
                write(spec, author=LlmAuthor(model, repairs), folder=folder, force=force, validation=validation), folder
            )

        return write_spec
    if own is None:
        raise ConfigError(
            "--author llm requires a description of the environments to write. Pass a spec file, --from "
            "diagnosis.json, or --target FOLDER"
        )
    from trace_gym.synthesis.base_world import write_base as write_world
    from trace_gym.targets.user.folder import read

    home = read(own)

    def write_base(model: Model, validation: ValidationConfig) -> None:
        made = write_world(home, model, repairs, validation, _log)
        say(f"{made.id}, by {made.author}, is the base world of {target}")

    return write_base


def _resolve_target(target: str) -> tuple[str, Path | None]:
    """Return the name of a target, and the folder of a custom target, which is added to the registry."""
    from trace_gym import registry
    from trace_gym.targets.user import folder

    if not (Path(target) / folder.SETTINGS).is_file():
        return target, None
    home = folder.read(Path(target))
    registry.add_folder(home.path)
    return home.name, home.path


def _replay_of_recordings(
    name: str | None,
    source: Path | None,
    target: str,
    every: bool,
    folder: Path,
    repairs: int,
    workers: int,
    force: bool,
) -> tuple[str, WriteFunction]:
    """Return the model URI of the recorded answers, and the function that generates the environments from them."""
    from trace_gym.synthesis.recorded import RECORDED_MODEL, recorded_environments, select_recorded
    from trace_gym.synthesis.synthesize_many import SynthesisRequest, write_all

    wanted = select_recorded(name, source, target, every, _log)
    if not wanted:
        raise ConfigError(
            "there are no recorded model answers for these capabilities: recorded answers exist only for the "
            f"capabilities of {', '.join(recorded_environments())}. To have a language model write the environments, "
            "pass --author llm"
        )

    def write(model: Model, validation: ValidationConfig) -> None:
        for target_name, capabilities in wanted.items():
            request = SynthesisRequest(capabilities, target_name, model, folder, validation, repairs, (), force)
            _print_results(write_all(request, workers, _log), folder)

    return RECORDED_MODEL, write


def _read_spec(name: str) -> Spec:
    """Return the spec in a file, or the spec in the manifest of a registered environment."""
    from trace_gym import registry
    from trace_gym.prompts.template import read_spec

    if not Path(name).exists() and name in registry.list_environments() and (spec := registry.manifest(name).spec):
        return spec
    return read_spec(read_text(name, "Pass a spec file, or the name of an environment with a spec"), name)


def _log(line: str) -> None:
    say(line, err=True)


def _print_manifest(manifest: Manifest, folder: Path) -> None:
    say(f"{manifest.id}: {folder / (manifest.id + '.py')}")


def _print_results(done: dict[str, Manifest | TraceGymError], folder: Path) -> None:
    """Print a table of the results, and exit with code 1 if an environment could not be generated."""
    from trace_gym.tables import Grid

    rows: list[tuple[str | Text, ...]] = []
    for name, made in done.items():
        if not isinstance(made, TraceGymError):
            o = made.origin
            assert o is not None
            cells = (str(o.rounds), str(o.prompt_tokens + o.completion_tokens), ", ".join(o.failed_first) or "nothing")
            rows.append((name, str(folder / f"{made.id}.py"), *cells))
        else:
            rows.append((name, Text(str(made), "red")))
    table = Grid(("capability", "environment", "versions", "tokens", "failed checks at first"), rows)
    terminal.console().print(table, crop=False)
    if any(isinstance(made, TraceGymError) for made in done.values()):
        raise typer.Exit(1)
