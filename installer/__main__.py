"""`./dev package [PART...]`: builds what this system can into `dist/`.

Parts: `bundle` (the folder with both programs), on Linux `deb`, `run` and `appimage`, on Windows `setup`, on macOS
`dmg`; `sums` writes SHA256SUMS. Without a part, all of this system; the AppImage only where appimagetool is. Everything
slow is kept in build/portable and done again only when what it depends on changed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from installer import bundle, environment, portable
from installer.places import BUNDLE, DIST, ICONS, PORTABLE, package_file, version
from tools.checkout.places import CONSTRAINTS, LOGS, ROOT, DevError
from tools.checkout.steps import Step, do, fresh

SYSTEM = {"win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
PARTS = {"windows": ("setup",), "macos": ("dmg",), "linux": ("deb", "run", "appimage")}[SYSTEM]
CODE = ("engine", "autotune", "app", "assets", "gannet.py", "cmake", "CMakeLists.txt", "pyproject.toml")
SUMS = "SHA256SUMS"


def steps(vulkan: bool) -> tuple[Step, ...]:
    """What leads to a bundle, in order."""
    wanted = [f"{name}={value}" for name, value in portable.options(vulkan).items()]
    engine: list[str | Path] = [portable.engine_version(), *wanted]
    packed: list[str | Path] = [CONSTRAINTS, *environment.requirements()]
    code: list[str | Path] = [*sources(*CODE), *engine, *packed]
    own = sources("installer", "LICENSE", "THIRD_PARTY.md", "CHANGELOG.md")
    return (
        Step(
            "portable-source",
            "llama-cpp-python's source package",
            "20 s",
            inputs=lambda: [portable.engine_version()],
            action=portable.unpack,
            ready=lambda: portable.source().is_dir(),
        ),
        Step(
            "portable-libraries",
            "llama.cpp for every processor generation",
            "20 to 40 minutes on two cores, more with the Vulkan backend",
            inputs=lambda: engine,
            action=lambda log: portable.compile_libraries(log, vulkan),
            ready=lambda: bool(portable.libraries()),
        ),
        Step(
            "package-environment",
            "packaging environment",
            "a minute",
            inputs=lambda: packed,
            action=environment.make,
            ready=bundle.environment_there,
        ),
        Step("package-engine", "Gannet in it", "a minute", inputs=lambda: code, action=environment.install_engine),
        Step(
            "package-icons",
            "icons",
            "5 s",
            inputs=lambda: [bundle.ICON, *sources("installer/icons.py")],
            action=bundle.draw_icons,
            ready=ICONS.is_dir,
        ),
        Step(
            "package-bundle",
            "the folder with both programs",
            "two minutes",
            inputs=lambda: [*code, *own],
            action=bundle.pack,
            ready=BUNDLE.is_dir,
        ),
    )


def sources(*places: str) -> list[str | Path]:
    """Every tracked or new file of the checkout at these places, in a fixed order."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *places],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    return sorted(ROOT / name for name in listing.stdout.decode().split("\0") if name)


def release_time() -> int:
    """The time written into packages: SOURCE_DATE_EPOCH, else that of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    last = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    return int(last.stdout)


def make_bundle(vulkan: bool) -> None:
    """Every step that is not done yet, then the size of what came out."""
    LOGS.mkdir(parents=True, exist_ok=True)
    PORTABLE.mkdir(parents=True, exist_ok=True)
    again = False
    for step in steps(vulkan):
        if again or not fresh(step):
            do(step)
            again = True
    for name, size in bundle.sizes(BUNDLE).items():
        print(f"dev:   {name:<16} {size / 1e6:7.1f} MB")
    if SYSTEM == "linux":
        from installer.linux import needs

        wanted = needs.needs(BUNDLE)
        print(f"dev:   runs with glibc {wanted.glibc} and C++ library symbols {wanted.glibcxx} or later")


def make_package(part: str) -> Path:
    """One package from the bundle; returns the file."""
    if part == "setup":
        target = package_file("exe")
        importlib.import_module("installer.windows.nsis").build(BUNDLE, target, version(), ICONS / "gannet.ico")
        return target
    if part == "dmg":
        target = package_file("dmg")
        importlib.import_module("installer.macos.dmg").build(DIST / "Gannet.app", target, version())
        return target
    from installer.linux import appimage, deb, run_file, tree

    builders: dict[str, Callable[[Sequence[tree.Entry], int], Path]] = {
        "deb": deb.build,
        "run": run_file.build,
        "appimage": appimage.build,
    }
    entries = tree.contents(BUNDLE, ICONS, version())
    (DIST / "linux-files.txt").write_text(tree.listing(entries))
    return builders[part](entries, release_time())


def checksums(files: Sequence[Path]) -> str:
    """Lines that `sha256sum --check` reads."""
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def packages() -> list[Path]:
    """The finished packages of this version in `dist`."""
    endings = (".deb", ".run", ".AppImage", ".exe", ".dmg")
    return sorted(path for path in DIST.glob(f"*{version()}*") if path.suffix in endings)


def possible() -> list[str]:
    """The packages this system builds when none is named."""
    if SYSTEM != "linux":
        return list(PARTS)
    from installer.linux import appimage

    return [part for part in PARTS if part != "appimage" or appimage.tool()]


def main(arguments: Sequence[str]) -> int:
    """Builds the parts named, or all; returns the exit code."""
    parser = argparse.ArgumentParser(prog="./dev package", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"bundle, {', '.join(PARTS)} or sums [all]")
    parser.add_argument(
        "--vulkan",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="graphics cards: build ggml's Vulkan backend as well [where its tools are installed]",
    )
    args = parser.parse_args(arguments)
    unknown = set(args.parts) - {"bundle", "sums", *PARTS}
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: not for this system; it has bundle, {', '.join(PARTS)} and sums")
    try:
        build(args.parts, with_vulkan() if args.vulkan is None else args.vulkan)
    except DevError as error:
        print(f"dev: {error}", file=sys.stderr)
        return 1
    return 0


def with_vulkan() -> bool:
    """Whether the Vulkan backend can be built here; says what is missing when it cannot."""
    missing = portable.missing_for_vulkan()
    if missing:
        print(f"dev:   without the Vulkan backend, which needs {missing}")
    return not missing


def build(parts: Sequence[str], vulkan: bool) -> None:
    """What `parts` asks for."""
    if list(parts) != ["sums"]:
        make_bundle(vulkan)
    for part in possible() if not parts else [part for part in PARTS if part in parts]:
        target = make_package(part)
        print(f"dev: {target.relative_to(ROOT)}: {target.stat().st_size / 1e6:.1f} MB")
    if not parts or "sums" in parts:
        (DIST / SUMS).write_text(checksums(packages()))
        print(f"dev: {(DIST / SUMS).relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
