"""The verb that writes environments: synthesize."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from trace_gym import terminal
from trace_gym.cli.options import AllowUnisolated, refuse
from trace_gym.errors import ConfigError, TraceGymError
from trace_gym.files import read_text, working_in
from trace_gym.terminal import say

if TYPE_CHECKING:
    from trace_gym.llm import Model
    from trace_gym.synthesize import Terms
    from trace_gym.types import Manifest, Spec


def register(app: typer.Typer) -> None:
    """Add this module's verb to the command line."""
    app.command()(synthesize)


def synthesize(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="A spec that ships, or a spec file.", show_default=False)] = None,
    author: Annotated[str, typer.Option(help="Who writes: template, or llm.")] = "template",
    llm: Annotated[
        str, typer.Option(help="The model of author llm: openai:MODEL, openai:MODEL@URL, replay:DIR or files:DIR.")
    ] = "",
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Capabilities: a diagnosis, or a list of names and descriptions (JSON, YAML)."),
    ] = None,
    target: Annotated[
        str, typer.Option(help="Target whose interface is kept: a name, or the folder of one of your own.")
    ] = "tau2_airline",
    trajectories: Annotated[
        Path | None, typer.Option(help="Episodes that the evidence of a diagnosis is found in.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for modules and manifests.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Write every spec that ships.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write and check again what is unchanged.")] = False,
    repairs: Annotated[int, typer.Option(min=0, help="How often author llm may mend a module.")] = 3,
    policy: Annotated[
        str, typer.Option(help="Agent whose rewards should spread: openai:MODEL, hf:FOLDER or mixture:P.")
    ] = "",
    seconds: Annotated[float, typer.Option(min=1, help="For checking one version by author llm.")] = 300.0,
    workers: Annotated[int, typer.Option(min=1, help="Environments that author llm works on at a time.")] = 2,
    tokens: Annotated[int | None, typer.Option(min=1, help="Budget: tokens of the model, in all.")] = None,
    dollars: Annotated[float | None, typer.Option(min=0, help="Budget in US dollars; needs --price.")] = None,
    price: Annotated[str, typer.Option(help="Dollars for a million tokens, prompt/completion, such as 0.5/1.5.")] = "",
    by: Annotated[str, typer.Option(help="Who answers with files:DIR, for the manifest.")] = "",
    allow_unisolated: AllowUnisolated = False,
) -> None:
    """Write environments and admit those that pass validation.

    Example: trace-gym synthesize tau2_precondition --out my_envs

    With a model:  trace-gym synthesize --from diagnosis.json --author llm --llm openai:gpt-4o --out my_envs

    For a target of your own, whose base world is written first:  --target my_target
    """
    from trace_gym import registry
    from trace_gym.sandbox import require_isolation
    from trace_gym.synthesize import Terms

    target, own = _aim(target)
    _refuse_unused(context, author, name, source, every, own)
    require_isolation()
    folder = out or own or registry.home()
    terms = Terms(budget=seconds, policy=policy)
    if author == "template":
        _from_templates(name, source, target, every, folder, force)
    elif author == "llm":
        if not llm:
            raise ConfigError("author llm needs a model: --llm openai:MODEL, replay:DIR or files:DIR")
        write = _planned(name, source, trajectories, target, own, folder, terms, repairs, workers, force)
        with working_in(folder):
            from trace_gym.synthesize.model import open_model

            model = open_model(llm, folder, _tell, tokens=tokens, dollars=dollars, price=price, by=by)
            try:
                write(model)
            finally:
                model.close()
    else:
        raise ConfigError(f"there is no author {author!r}; expected template or llm")


def _refuse_unused(
    context: typer.Context, author: str, name: str | None, source: Path | None, every: bool, own: Path | None
) -> None:
    """Refuse options that have no effect on what is written.

    Raises:
        ConfigError: One was given.
    """
    first = "--from" if source is not None else "--all" if every else "NAME"
    refuse(context, {"--from": {"name", "every"}, "--all": {"name"}}.get(first, ()), f"beside {first}")
    if author == "template":
        model = {"llm", "trajectories", "repairs", "policy", "seconds", "workers", "tokens", "dollars", "price", "by"}
        refuse(context, model, "on author template")
    elif author == "llm":
        refuse(context, {"every"}, "on author llm")
    if source is None:
        refuse(context, {"trajectories", "workers"}, "without --from")
        if own is None:
            refuse(context, {"target"}, "without --from, as a spec names its target")
    if author == "llm" and source is None and name is None:
        refuse(context, {"force", "policy"}, "on a base world")


def _planned(
    name: str | None,
    source: Path | None,
    trajectories: Path | None,
    target: str,
    own: Path | None,
    folder: Path,
    terms: Terms,
    repairs: int,
    workers: int,
    force: bool,
) -> Callable[[Model], None]:
    """What a model is to write, once every input is read."""
    if source is not None:
        from trace_gym.synthesize.batch import Order, read_capabilities, write_all
        from trace_gym.targets.results import read_results

        wanted, known = read_capabilities(source), list(read_results(trajectories)) if trajectories else []

        def write_capabilities(model: Model) -> None:
            order = Order(wanted, target, model, folder, terms, repairs, known, force)
            _tell_all(write_all(order, workers, _tell), folder)

        return write_capabilities
    if name is not None:
        from trace_gym.synthesize import synthesize as write
        from trace_gym.synthesize.llm_author import LlmAuthor

        spec = _spec(name)

        def write_spec(model: Model) -> None:
            _told(write(spec, author=LlmAuthor(model, repairs), folder=folder, force=force, terms=terms), folder)

        return write_spec
    if own is None:
        raise ConfigError("name a spec file, or the file of capabilities: --from diagnosis.json")
    from trace_gym.synthesize.base import write_base as write_world
    from trace_gym.targets.user.folder import read

    home = read(own)

    def write_base(model: Model) -> None:
        made = write_world(home, model, repairs, terms, _tell)
        say(f"{made.id}, by {made.author}, is the base world of {target}")

    return write_base


def _aim(target: str) -> tuple[str, Path | None]:
    """The name of a target; for the folder of a user's own, which is then searched, that folder as well."""
    from trace_gym import registry
    from trace_gym.targets.user import folder

    if not (Path(target) / folder.SETTINGS).is_file():
        return target, None
    home = folder.read(Path(target))
    registry.add_folder(home.path)
    return home.name, home.path


def _from_templates(name: str | None, source: Path | None, target: str, every: bool, folder: Path, force: bool) -> None:
    from trace_gym.synthesize import serving, template
    from trace_gym.synthesize import synthesize as write
    from trace_gym.synthesize.batch import read_capabilities

    if source is not None:
        served = [(c, serving(c, target)) for c in read_capabilities(source)]
        for capability, spec in served:
            if spec is None:
                say(f"{capability.name}: no blueprint of the template author serves it", err=True)
        specs = [spec for _, spec in served if spec is not None]
    elif every:
        specs = [template.spec(n) for n in template.spec_names()]
    elif name is None:
        raise ConfigError(f"name a spec ({', '.join(template.spec_names())}), a spec file, --all or --from")
    else:
        specs = [_spec(name)]
    with working_in(folder):
        for spec in specs:
            _told(write(spec, folder=folder, force=force), folder)


def _spec(name: str) -> Spec:
    """The spec of a file, or the one that ships under this name."""
    from trace_gym.synthesize import template

    if not Path(name).exists():
        return template.spec(name)
    return template.read_spec(read_text(name, "Name a spec file, or a spec that ships"), name)


def _tell(line: str) -> None:
    say(line, err=True)


def _told(manifest: Manifest, folder: Path) -> None:
    say(f"{manifest.id}: {folder / (manifest.id + '.py')}")


def _tell_all(done: dict[str, Manifest | TraceGymError], folder: Path) -> None:
    """A table of what was written; the exit code is 1 where something was not."""
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
    table = Grid(("capability", "environment", "versions", "tokens", "failed first"), rows)
    terminal.console().print(table, crop=False)
    if any(isinstance(made, TraceGymError) for made in done.values()):
        raise typer.Exit(1)
