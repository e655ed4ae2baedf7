"""What goes into the bundle and what stays out: decisions over names, which the spec applies to PyInstaller's lists."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath

LEFT_OUT_MODULES = (
    "IPython",
    "PIL",
    "_pytest",
    "cmake",
    "doctest",
    "hf_xet",  # a faster transfer that the download process switches off
    "idlelib",
    "lib2to3",
    "llama_cpp.server",
    "matplotlib",
    "nanobind",
    "ninja",
    "numpy.f2py",
    "pip",
    "pydoc",
    "pytest",
    "scikit_build_core",
    "setuptools",
    "tkinter",
    "turtle",
    "turtledemo",
    "unittest",
)

QT_PLUGINS = {
    "iconengines": ("qsvgicon",),
    "imageformats": ("qgif", "qico", "qjpeg", "qsvg", "qwebp"),
    "platforminputcontexts": ("composeplatforminputcontextplugin", "ibusplatforminputcontextplugin"),
    "platforms": ("qcocoa", "qoffscreen", "qwayland", "qwindows", "qxcb"),
    "platformthemes": ("qxdgdesktopportal",),
    "styles": ("qmacstyle", "qmodernwindowsstyle"),
    "wayland-decoration-client": ("bradient", "adwaita"),
    "wayland-graphics-integration-client": ("qt-plugin-wayland-egl",),
    "wayland-shell-integration": ("xdg-shell",),
    "xcbglintegrations": ("qxcb-egl-integration", "qxcb-glx-integration"),
}
"""Folder of Qt's plugins -> the beginnings of the names that Gannet can use; all others stay out."""

OWN_ON_LINUX = (
    "libbz2",
    "libcrypto",
    "libffi",
    "libgomp",
    "liblzma",
    "libpython3",
    "libsqlite3",
    "libssl",
    "libxcb-cursor",
    "libxcb-icccm",
    "libxcb-image",
    "libxcb-keysyms",
    "libxcb-render-util",
    "libxcb-shape",
    "libxcb-util",
    "libxcb-xkb",
    "libxkbcommon-x11",
)
"""Libraries of the building system that are packed: what Python and the engine load, and the small X11 libraries that
Qt wants and not every desktop has. Everything else (C and C++ library, graphics, fonts) is the user's system's own."""


def qt_plugin_wanted(place: str) -> bool:
    """Whether a file of Qt's plugin folder, by its place in the bundle, is of use."""
    path = PurePosixPath(place)
    names = QT_PLUGINS.get(path.parent.name, ())
    return path.name.removeprefix("lib").startswith(names) if names else False


def wanted(place: str) -> bool:
    """Whether a file belongs into the bundle, by its place there."""
    place = place.replace("\\", "/")
    if "/plugins/" in place:
        return qt_plugin_wanted(place)
    if re.match(r"PySide6/(Qt/)?(translations|qml|metatypes|libexec|resources)/", place):
        return False
    return not re.search(r"(^|/)(opengl32sw\.dll|d3dcompiler_\w+\.dll)$", place)


def own_library(place: str, from_system: bool, linux: bool) -> bool:
    """Whether a library is packed. `from_system`: it comes from the building system's folders, not from a package."""
    return not (linux and from_system) or PurePosixPath(place).name.startswith(OWN_ON_LINUX)


def reached(roots: Iterable[str], libraries: Mapping[str, str], imports: Callable[[str], Iterable[str]]) -> set[str]:
    """The places of those `libraries` (file name -> place) that the files at `roots` need, directly or in turn.

    `imports` gives the file names of the libraries that the file at a place loads when it is loaded.
    """
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        for name in imports(waiting.pop()):
            place = libraries.get(name)
            if place is not None and place not in found:
                found.add(place)
                waiting.append(place)
    return found
