"""What goes into a bundle, by name."""

from __future__ import annotations

import os
import shutil
import tomllib
from importlib.metadata import distribution
from pathlib import Path

import pytest

from installer import __main__ as package
from installer import contents, environment, licences, places, portable
from tools.third_party import canonical


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6\\plugins\\platforms\\qwindows.dll", True),
        ("PySide6/Qt/plugins/platforms/libqeglfs.so", False),
        ("PySide6/Qt/plugins/sqldrivers/libqsqlite.so", False),
        ("PySide6/Qt/plugins/imageformats/libqsvg.so", True),
        ("PySide6/Qt/plugins/imageformats/libqtiff.so", False),
        ("PySide6/Qt/translations/qtbase_fr.qm", False),
        ("PySide6/opengl32sw.dll", False),
        ("PySide6/QtCore.abi3.so", True),
        ("app/i18n/de/chat.ts", True),
        ("llama_cpp/lib/libggml-cpu-haswell.so", True),
    ],
)
def test_only_what_the_window_uses_of_qt_is_kept(place: str, kept: bool) -> None:
    assert contents.wanted(place) is kept


@pytest.mark.parametrize(
    ("place", "from_system", "linux", "kept"),
    [
        ("libstdc++.so.6", True, True, False),
        ("libX11.so.6", True, True, False),
        ("libgomp.so.1", True, True, True),
        ("libxcb-cursor.so.0", True, True, True),
        ("libxcb.so.1", True, True, False),
        ("numpy.libs/libopenblas.so", False, True, True),
        ("libstdc++.6.dylib", True, False, True),
    ],
)
def test_on_linux_the_users_own_system_libraries_are_used(
    place: str, from_system: bool, linux: bool, kept: bool
) -> None:
    assert contents.own_library(place, from_system, linux) is kept


def test_a_library_is_kept_only_while_something_needs_it() -> None:
    imports = {"window.so": ["a.so", "system.so"], "lib/a.so": ["b.so"], "lib/b.so": ["a.so"], "lib/c.so": []}
    libraries = {"a.so": "lib/a.so", "b.so": "lib/b.so", "c.so": "lib/c.so"}
    assert contents.reached(["window.so"], libraries, imports.__getitem__) == {"lib/a.so", "lib/b.so"}


def test_graphics_backends_lie_apart_from_those_of_the_processor() -> None:
    assert portable.place_of("libggml-vulkan.so") == "gpu/libggml-vulkan.so"
    assert portable.place_of("ggml-vulkan.dll") == "gpu/ggml-vulkan.dll"
    for name in ("libggml-cpu-haswell.so", "libggml-base.so", "libllama.so", "ggml.dll"):
        assert portable.place_of(name) == name


def test_the_engine_is_built_for_no_processor_in_particular() -> None:
    chosen = portable.options(vulkan=False)
    assert (chosen["GGML_NATIVE"], chosen["GGML_BACKEND_DL"], chosen["GGML_CPU_ALL_VARIANTS"]) == ("OFF", "ON", "ON")
    assert (chosen["GGML_VULKAN"], portable.options(vulkan=True)["GGML_VULKAN"]) == ("OFF", "ON")


def test_what_the_vulkan_backend_lacks_is_named_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sdk = tmp_path / "sdk"
    program = sdk / "bin" / ("glslc.exe" if os.name == "nt" else "glslc")
    monkeypatch.setenv("VULKAN_SDK", str(sdk))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "glslc" in portable.missing_for_vulkan()
    program.parent.mkdir(parents=True)
    program.write_text("")
    program.chmod(0o755)
    assert portable.missing_for_vulkan() == "Vulkan's headers"
    header = sdk / "include" / "vulkan" / "vulkan_core.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define VK_HEADER_VERSION 239\n")
    assert str(header) in portable.missing_for_vulkan() and "1.3.272" in portable.missing_for_vulkan()
    header.write_text("#define VK_EXT_layer_settings 1\n")
    assert portable.missing_for_vulkan() == ""


def test_without_an_sdk_the_systems_headers_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VULKAN_SDK", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name, path: name)
    header = tmp_path / "vulkan" / "vulkan_core.h"
    header.parent.mkdir()
    header.write_text("#define VK_EXT_layer_settings 1\n")
    assert portable.missing_for_vulkan([str(tmp_path)]) == "SPIR-V's headers"
    (tmp_path / "spirv" / "unified1").mkdir(parents=True)
    (tmp_path / "spirv" / "unified1" / "spirv.hpp").write_text("")
    assert portable.missing_for_vulkan([str(tmp_path)]) == ""


def test_the_version_is_the_one_in_pyproject_and_every_packing_tool_is_pinned(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text("utf-8"))["project"]
    assert places.version() == project["version"]
    assert places.version() in places.package_file("run").name
    pins = (repository / "constraints.txt").read_text("utf-8")
    for line in environment.requirements():
        name = canonical(line.replace("<", ">").replace("!", ">").split(">")[0].split("=")[0])
        assert any(canonical(pin.split("==")[0]) == name for pin in pins.splitlines()), line
    assert not any(line.startswith("llama-cpp-python") for line in environment.requirements())


def test_licence_texts_are_found_in_installed_packages() -> None:
    names = [name for name, _ in licences.licence_files(distribution("uvicorn"))]
    assert names and all("licen" in name.lower() for name in names)


def test_checksums_are_of_the_form_that_sha256sum_reads(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert package.checksums([tmp_path / "empty"]) == f"{empty}  empty\n"


def test_an_unknown_part_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        package.main(["floppy"])
    assert ended.value.code == 2
    assert "floppy: not for this system" in capsys.readouterr().err
