"""Every way to install the project gives the same package, complete, from any folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def test_every_package_is_listed() -> None:
    found = {
        ".".join([name, *init.parent.relative_to(ROOT / folder).parts])
        for name, folder in SETUPTOOLS["package-dir"].items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert sorted(found) == SETUPTOOLS["packages"]


def test_every_folder_of_modules_is_a_package() -> None:
    """A folder without `__init__.py` works in a checkout and is missing from the wheel."""
    folders = {p.parent for folder in SETUPTOOLS["package-dir"].values() for p in (ROOT / folder).rglob("*.py")}
    lacking = [f.relative_to(ROOT) for f in sorted(folders) if not (f / "__init__.py").is_file()]
    assert [str(f) for f in lacking if ".candidates" not in f.parts] == []  # there an author leaves its drafts


def expected(root: Path) -> set[str]:
    """Return the expected content of the package, by path inside of it, read from the tree under `root`."""
    made = set()
    for name, folder in SETUPTOOLS["package-dir"].items():
        for path in (root / folder).rglob("*"):
            if path.is_file():
                made.add("/".join([*name.split("."), *path.relative_to(root / folder).parts]))
    return made


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what packaging reads: builds leave files behind, and the checkout is no place for them."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("trace_gym", *(f for f in SETUPTOOLS["package-dir"].values() if f != "trace_gym")):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", ".candidates"))
    for name in (
        "pyproject.toml",
        "setup.py",
        "MANIFEST.in",
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        *(f"{module}.py" for module in SETUPTOOLS["py-modules"]),
    ):
        shutil.copy(ROOT / name, copy)
    for name in ("docs", "examples", "benchmarks"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    return copy


def python_in(folder: Path) -> Path:
    """A fresh environment that sees the libraries of this one, and nothing of this checkout."""
    venv.create(folder, with_pip=False, symlinks=True)
    [site] = folder.glob("lib/python*/site-packages")
    # Appended rather than processed as a site folder, so that this environment's editable install stays out.
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "libraries.pth").write_text("".join(f"{p}\n" for p in sorted(paths)))
    return folder / "bin" / "python"


def run(python: Path, *command: str, cwd: Path) -> str:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TRACE_GYM_ENVS")}
    done = subprocess.run([str(python), *command], cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PIP = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--ignore-installed", "--no-index")
LOOK = """
import json
from importlib.metadata import entry_points, version
from importlib.util import find_spec
import gymnasium, trace_gym
import trace_gym.templates, trace_gym.trainers, trace_gym.generated_envs
rooms = {name: find_spec(name).submodule_search_locations[0] for name in %(packages)r}
leaks = find_spec("trainers") is not None
from jinja2 import Environment, PackageLoader
templates = Environment(loader=PackageLoader("trace_gym.templates", "")).list_templates()
script = [e.value for e in entry_points(group="console_scripts") if e.name == "trace-gym"]
ids = [i for i in gymnasium.registry if "trace/" in i]
print(json.dumps({"rooms": rooms, "leaks": leaks, "templates": templates, "script": script, "ids": ids,
                  "version": version("trace-gym"), "own": trace_gym.__version__}))
"""


@pytest.fixture(scope="module")
def distributions(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel as it is released: built from the sdist."""
    out = tmp_path_factory.mktemp("dist")
    run(Path(sys.executable), "-m", "build", "--no-isolation", "--outdir", str(out), str(source), cwd=out)
    return out


@pytest.fixture(scope="module")
def wheel(distributions: Path) -> Path:
    [made] = distributions.glob("*.whl")
    return made


LINK = re.compile(r"\]\(([^)]+)\)")


def test_description_on_a_package_index_has_no_relative_links(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
    assert "Description-Content-Type: text/markdown" in metadata
    assert metadata.count("\n```") == (ROOT / "README.md").read_text().count("\n```")
    assert [link for link in LINK.findall(metadata) if not link.startswith("https://")] == []
    assert "Project-URL: Paper, https://arxiv.org/abs/2604.05336" in metadata


def test_source_distribution_holds_every_page_that_the_readme_links_to(distributions: Path) -> None:
    [sdist] = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    linked = {link for link in LINK.findall((ROOT / "README.md").read_text()) if not link.startswith("https://")}
    assert len(linked) > 10 and {link.partition("#")[0].rstrip("/") for link in linked} <= held


def test_links_become_absolute_once_the_repository_has_an_address() -> None:
    def description(*arguments: str) -> str:
        # Not in this process, because setuptools replaces distutils, which depends on what other tests have imported.
        code = "import runpy, sys; print(runpy.run_path('setup.py')['description'](*sys.argv[1:]), end='')"
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return done.stdout

    text = "See [training](docs/train.md) and [docs/run.md](docs/run.md).\n```python\nx[0](y)\n```\n"
    assert description(text, "https://host.example/trace") == (
        "See [training](https://host.example/trace/blob/main/docs/train.md) and "
        "[docs/run.md](https://host.example/trace/blob/main/docs/run.md).\n```python\nx[0](y)\n```\n"
    )
    assert description(text) == "See training (`docs/train.md`) and `docs/run.md`.\n```python\nx[0](y)\n```\n"


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path, source: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    modules = {f"{module}.py" for module in SETUPTOOLS["py-modules"]}
    assert sorted(held) == sorted(expected(source) | modules)


@pytest.mark.parametrize("way", ["editable", "plain", "wheel"])
def test_an_install_is_complete_from_any_folder(way: str, source: Path, wheel: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    copy = shutil.copytree(source, tmp_path / "copy")  # a plain install leaves build/ behind
    python = python_in(tmp_path / "venv")
    what = {"editable": ["--editable", str(copy)], "plain": [str(copy)], "wheel": [str(wheel)]}[way]
    run(python, *PIP, *what, cwd=elsewhere)
    seen = json.loads(run(python, "-W", "error", "-c", LOOK % {"packages": SETUPTOOLS["packages"]}, cwd=elsewhere))
    home = copy if way == "editable" else tmp_path / "venv"
    assert all(Path(folder).is_relative_to(home) for folder in seen["rooms"].values()), seen["rooms"]
    assert not seen["leaks"]
    assert seen["version"] == seen["own"]
    assert seen["script"] == ["trace_gym.cli:main"]
    assert "trace/tau2-mixture-v0" in seen["ids"]
    innermost = sorted(seen["rooms"].items(), key=lambda room: -len(room[0]))
    for path in expected(source):
        inside = {room: path.removeprefix(room.replace(".", "/") + "/") for room, _ in innermost}
        folder, rest = next((f, inside[room]) for room, f in innermost if inside[room] != path)
        assert (Path(folder) / rest).is_file(), path
    assert {"env/written.py.jinja", "recorded/tau2_airline.yaml"} <= {*seen["templates"]}


def test_a_checkout_needs_no_install(source: Path, tmp_path: Path) -> None:
    python = python_in(tmp_path / "venv")
    code = f"import sys; sys.path.insert(0, {str(source)!r}); import trace_gym.trainers as t; print(t.__file__)"
    assert run(python, "-c", code, cwd=tmp_path).strip() == str(source / "trainers" / "__init__.py")


def test_constraints_satisfy_the_requirements() -> None:
    from packaging.requirements import Requirement

    lines = (line.split("#")[0].strip() for line in (ROOT / "constraints.txt").read_text().splitlines())
    pinned = {name.lower().replace("_", "-"): v for name, _, v in (li.partition("==") for li in lines if li)}
    extras = PROJECT["project"]["optional-dependencies"]
    for text in [*PROJECT["project"]["dependencies"], *extras["lab"], *extras["ray"], *extras["dev"]]:
        if (wanted := Requirement(text)).name == "trace-gym":  # one extra that names another
            continue
        assert pinned[wanted.name.lower()] in wanted.specifier, text
    assert not [v for v in pinned.values() if "+" in v or not v]  # a local build is of one machine
