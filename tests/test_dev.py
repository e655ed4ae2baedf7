"""`./dev` prepares a checkout: what it decides without doing."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path, PureWindowsPath
from types import ModuleType

import pytest

from tools.checkout import debian, native, programs, progress, steps
from tools.checkout.places import DevError


@pytest.fixture(scope="module")
def dev(repository: Path) -> ModuleType:
    loader = SourceFileLoader("dev_script", str(repository / "dev"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    sys.modules[loader.name] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


def test_help_lists_every_task_with_its_arguments(dev: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["help"]) == 0
    shown = capsys.readouterr().out
    for name, task in dev.TASKS.items():
        assert re.search(rf"^  {name} {re.escape(task.arguments)} *{re.escape(task.text)}$", shown, re.MULTILINE)
    assert dev.main([]) == dev.main(["--help"]) == 0


def test_a_mistyped_task_is_named_and_exits_2(dev: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert dev.main(["tset"]) == 2
    assert "no task 'tset'" in capsys.readouterr().err


def test_a_stamp_depends_on_names_texts_and_file_contents(tmp_path: Path) -> None:
    file = tmp_path / "source.cpp"
    absent = steps.digest([file])
    file.write_text("one")
    first = steps.digest([file])
    file.write_text("two")
    assert (
        len({absent, first, steps.digest([file]), steps.digest([]), steps.digest(["a", "b"]), steps.digest(["ab"])})
        == 6
    )


class TestSteps:
    @pytest.fixture
    def runs(self) -> list[Path]:
        return []

    @pytest.fixture
    def source(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setattr(steps, "STAMPS", tmp_path / "stamps")
        monkeypatch.setattr(steps, "LOGS", tmp_path)
        source = tmp_path / "source"
        source.write_text("1")
        return source

    def step(self, source: Path, runs: list[Path], needed: bool = True) -> steps.Step:
        return steps.Step(
            "one", "a step", "a moment", inputs=lambda: [source], action=runs.append, needed=lambda: needed
        )

    def test_a_done_step_is_not_done_again_until_its_source_changes(self, source: Path, runs: list[Path]) -> None:
        step = self.step(source, runs)
        assert not steps.fresh(step)
        steps.do(step)
        assert steps.fresh(step)
        source.write_text("2")
        assert not steps.fresh(step)
        assert len(runs) == 1

    def test_a_failed_step_is_done_again(self, source: Path) -> None:
        def fail(log: Path) -> None:
            raise DevError("no disk")

        steps.do(self.step(source, []))
        source.write_text("2")
        step = steps.Step("one", "a step", "a moment", inputs=lambda: [source], action=fail)
        with pytest.raises(DevError):
            steps.do(step)
        assert not steps.fresh(step)
        source.write_text("1")
        assert not steps.fresh(step), "what a broken-off step left behind is not what the old stamp stood for"

    def test_a_step_that_is_not_needed_is_stamped_silently(
        self, source: Path, runs: list[Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        step = self.step(source, runs, needed=False)
        steps.do(step)
        assert steps.fresh(step) and not runs
        assert capsys.readouterr().err == ""

    def test_a_source_that_changes_while_it_is_built_is_built_again(self, source: Path) -> None:
        step = steps.Step(
            "one", "a step", "a moment", inputs=lambda: [source], action=lambda log: source.write_text("2") and None
        )
        steps.do(step)
        assert not steps.fresh(step)


def test_the_slow_package_is_installed_first_and_no_requirement_twice() -> None:
    table = {
        "dependencies": ["numpy>=2", "llama-cpp-python==1.0"],
        "optional-dependencies": {"app": ["numpy>=2"], "dev": ["mypy"]},
    }
    assert steps.requirements(table) == ["llama-cpp-python==1.0", "mypy", "numpy>=2"]


def test_llama_is_built_alone_whatever_else_the_user_asks_of_cmake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CMAKE_ARGS", "-DGGML_CUDA=ON")
    own, *ours = shlex.split(steps.llama_environment()["CMAKE_ARGS"])
    assert (own, ours[0]) == ("-DGGML_CUDA=ON", "-DLLAVA_BUILD=OFF")
    name, _, included = ours[1].partition("=")
    assert name == "-DCMAKE_PROJECT_llama.cpp_INCLUDE" and Path(included).is_file()


def test_every_requirement_is_pinned(repository: Path) -> None:
    """A requirement without a pin would let a fresh checkout differ from the one that passed the tests."""
    table = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))
    lines = (repository / "constraints.txt").read_text("utf-8").splitlines()
    pins = {canonical(line.split("==")[0]) for line in lines if "==" in line}
    wanted = [*steps.requirements(table["project"]), *table["build-system"]["requires"]]
    assert [line for line in wanted if canonical(re.split(r"[\[<>=!~; ]", line)[0]) not in pins] == []
    assert [line for line in lines if line and not re.match(r"#|[\w.-]+==[\w.]+( ?;.*)?$", line)] == []


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def test_a_debian_package_that_is_removed_or_unknown_counts_as_missing() -> None:
    status = "g++ installed\nlibegl1 config-files\n"
    assert debian.missing(["g++", "libegl1", "doctest-dev"], status) == ["libegl1", "doctest-dev"]


def test_headers_of_the_systems_python_are_asked_for_only_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian.shutil, "which", lambda name: "/usr/bin/dpkg-query")
    assert set(debian.wanted("/usr")) - set(debian.wanted("/opt/python")) == set(debian.SYSTEM_PYTHON)


def test_no_debian_package_is_asked_for_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian.shutil, "which", lambda name: None)
    assert debian.wanted() == []


def test_without_root_the_missing_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(debian, "missing_here", lambda: ["libegl1"])
    monkeypatch.setattr(debian.os, "geteuid", lambda: 1000, raising=False)
    debian.install(tmp_path / "log")
    assert "sudo apt-get install libegl1" in capsys.readouterr().err


def test_a_failed_program_is_reported_with_the_line_that_tells_why_and_the_log(tmp_path: Path) -> None:
    log = tmp_path / "build.log"
    with pytest.raises(DevError) as caught:
        programs.logged(log, "python", "-c", "import sys; print('on it'); print('ERROR: no such wheel'); sys.exit(3)")
    message = str(caught.value)
    assert "ERROR: no such wheel" in message
    assert str(log) in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("$ pip\nERROR: old\n$ cmake\nCMake Error at x:1\nmore\n", "CMake Error at x:1"),
        ("$ pip\nworking\nended\n", "ended"),
        ("", "no output"),
    ],
)
def test_the_telling_line_belongs_to_the_last_command(text: str, line: str) -> None:
    assert programs.telling_line(text) == line


def test_the_shown_log_line_is_the_last_with_text(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert progress.last_line(log) == ""
    log.write_bytes(b"first\nDownloading 1 %\rDownloading 9 %\n\n")
    assert progress.last_line(log) == "Downloading 9 %"


def test_elapsed_time_reads_like_time() -> None:
    assert (progress.clock(4.24), progress.clock(187)) == ("4.2 s", "3:07 min")


def test_a_program_killed_by_a_signal_exits_like_in_a_shell() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    assert programs.run("python", "-c", code) == 143


def test_the_native_core_is_rebuilt_when_cmake_changes(repository: Path) -> None:
    sources = native.sources()
    assert repository / "CMakeLists.txt" in sources
    assert repository / "engine" / "native" / "src" / "bindings.cpp" in sources
    assert not [path for path in native.code() if path.suffix not in (".cpp", ".h")]


def test_a_path_of_windows_reaches_cmake_without_backslashes() -> None:
    options = native.defines({"Python_EXECUTABLE": PureWindowsPath(r"C:\a\python.exe"), "GANNET_TESTS": "ON"})
    assert options == ["-DPython_EXECUTABLE=C:/a/python.exe", "-DGANNET_TESTS=ON"]
