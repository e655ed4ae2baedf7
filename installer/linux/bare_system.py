"""A bare Debian to try a package in: made once by debootstrap, used through an overlay that is thrown away."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from installer.places import PORTABLE
from tools.checkout.places import ROOT, DevError

BASES = PORTABLE / "show"
DESKTOP = (  # what every desktop has: a toolkit with its libraries, OpenGL, fonts, icons, menus, file types
    "dbus",
    "desktop-file-utils",
    "fonts-dejavu-core",
    "hicolor-icon-theme",
    "libegl1",
    "libgl1",
    "libgl1-mesa-dri",
    "libglib2.0-bin",
    "libgtk-3-0",
    "libgtk-3-bin",
    "procps",
    "shared-mime-info",
    "xdg-utils",
)
NOT_COUNTED = ("/proc/", "/sys/", "/dev/", "/run/", "/tmp/.X11-unix", "/var/lib/apt/", "/var/lib/dpkg/", "/var/cache/")
CACHES = ("/var/log/", "/etc/ld.so.cache", "/usr/share/mime/", "/usr/share/applications/mimeinfo.cache")
FINISHED = "SELECT text FROM message WHERE role='assistant' AND status<>'partial' ORDER BY id"
BEGUN = """
    SELECT text || coalesce((SELECT group_concat(piece.text, '') FROM piece WHERE piece.message = message.id), '')
    FROM message WHERE role='assistant' ORDER BY id"""
SCREENS = Path("/tmp/.X11-unix")
USER = 1000
SESSION_BUS = f"unix:path=/run/user/{USER}/bus"


def mirror() -> str:
    """Where this system gets its packages."""
    files = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*"))]
    for line in (line for path in files if path.is_file() for line in path.read_text().splitlines()):
        words = line.split()
        if line.startswith("URIs:"):
            return words[1]
        if line.startswith("deb "):
            return next(word for word in words if "://" in word)
    raise DevError("no package mirror in /etc/apt")


def base_system(release: str) -> Path:
    """A folder with a minimal system of that release and what every desktop has; made when it is not there yet."""
    target = BASES / release
    if target.is_dir():
        return target
    half = BASES / f"{release}.half"
    shutil.rmtree(half, ignore_errors=True)
    BASES.mkdir(parents=True, exist_ok=True)
    subprocess.run(["debootstrap", "--variant=minbase", release, half, mirror()], check=True, stdout=-3)
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive"]
    install = ["apt-get", "install", "-y", "--no-install-recommends", *DESKTOP]
    subprocess.run(["chroot", half, *quiet, *install], check=True, stdout=-3)
    half.rename(target)
    return target


class System:
    """A context manager: a running system of its own, one user with `home`, `model` bound below /models.

    `language`, `network` and further environment `variables` may be changed between two programs.
    """

    def __init__(self, release: str, base: Path, home: str, model: Path | None) -> None:
        self.release, self._base, self.home = release, base, home
        self._model = model
        self.model = f"/models/{model.name}" if model else ""
        self.language, self.network = "C.UTF-8", True
        self.variables: dict[str, str] = {}

    def __enter__(self) -> System:
        self._work = Path(tempfile.mkdtemp(prefix="gannet-show-"))
        self.root = self._work / "root"
        self._mounted: list[Path] = []
        self._bus: subprocess.Popen[bytes] | None = None
        try:
            self._begin()
        except BaseException:
            self.__exit__()  # else folders of this system stay mounted below one that somebody removes
            raise
        return self

    def _begin(self) -> None:
        for name in ("upper", "work", "root"):
            (self._work / name).mkdir()
        layers = f"lowerdir={self._base},upperdir={self._work}/upper,workdir={self._work}/work"
        self._mount("-t", "overlay", "overlay", "-o", layers, target=self.root)
        self._mount("-t", "proc", "proc", target=self.root / "proc")
        self._mount("-t", "sysfs", "-o", "ro", "sysfs", target=self.root / "sys")
        self._mount("--bind", "/dev", target=self.root / "dev")
        self._mount("--bind", "/dev/pts", target=self.root / "dev/pts")
        self._mount("-t", "tmpfs", "tmpfs", target=self.root / "dev/shm")
        for place in (SCREENS, self.root / "tmp/.X11-unix"):
            place.mkdir(exist_ok=True)
            place.chmod(0o1777)  # as the X server itself makes it, which has not run yet
        self._mount("--bind", str(SCREENS), target=self.root / "tmp/.X11-unix")
        if self._model:
            (self.root / "models").mkdir()
            (self.root / self.model.lstrip("/")).touch()
            self._mount("--bind", str(self._model), target=self.root / self.model.lstrip("/"))
        self.run(["useradd", "-u", str(USER), "-m", "-d", self.home, "wanda"], root=True)
        self.run(["install", "-d", "-o", str(USER), "-m", "700", f"/run/user/{USER}"], root=True)
        bus = ["dbus-daemon", "--session", "--nofork", f"--address={SESSION_BUS}"]
        self._bus = subprocess.Popen(self._line(bus, False, "", True, self.language, ""), stderr=subprocess.DEVNULL)

    def __exit__(self, *_: object) -> None:
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        if self._bus is not None:
            self._bus.terminate()
            self._bus.wait()
        for path in reversed(self._mounted):
            subprocess.run(["umount", "-l", path], check=False)
        if not any(path.is_mount() for path in self._mounted):
            shutil.rmtree(self._work, ignore_errors=True)

    def _mount(self, *options: str, target: Path) -> None:
        subprocess.run(["mount", *options, target], check=True)
        self._mounted.append(target)

    def read_only(self, place: str) -> None:
        """Make a folder read only, whoever asks."""
        target = self.root / place.lstrip("/")
        self._mount("--bind", str(target), target=target)
        subprocess.run(["mount", "-o", "remount,bind,ro", target], check=True)

    def put(self, source: Path, place: str) -> None:
        """Copy a file in, readable for all."""
        target = self.root / place.lstrip("/")
        shutil.copyfile(source, target)
        target.chmod(0o644)

    def demo_file(self) -> str:
        """A model file in the user's home."""
        place = f"{self.home}/model.gguf"
        if not (self.root / place.lstrip("/")).exists():
            self.put(ROOT / "assets" / "demo-moe.gguf", place)
        return place

    def _line(
        self, command: Sequence[str], root: bool, limit: str, network: bool, language: str, display: str
    ) -> list[str]:
        who = [] if root else [f"--userspec={USER}:{USER}"]
        home = "/root" if root else self.home
        variables = {
            "HOME": home,
            "USER": "root" if root else "wanda",
            "PATH": f"{home}/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "LANG": language,
            "DISPLAY": display,
            "XDG_RUNTIME_DIR": f"/run/user/{USER}",
            "DBUS_SESSION_BUS_ADDRESS": SESSION_BUS,
            "DEBIAN_FRONTEND": "noninteractive",
            **self.variables,
        }
        within = [str(ROOT / "tools" / "memlimit"), limit] if limit else []
        alone = [] if network else ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"]
        environment = [f"{name}={value}" for name, value in variables.items() if value]
        return [*within, *alone, "chroot", *who, str(self.root), "env", "-i", *environment, *command]

    def run(
        self,
        command: Sequence[str],
        *,
        root: bool = False,
        limit: str = "",
        network: bool | None = None,
        language: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, as the user or as root, within a memory limit if one is given."""
        connected = self.network if network is None else network
        line = self._line(command, root, limit, connected, language or self.language, "")
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=600)

    def start(self, command: Sequence[str], display: str, limit: str = "") -> None:
        """Start a program of the user's on a screen and leave it running."""
        line = self._line(command, False, limit, self.network, self.language, display)
        with (self._work / "program.log").open("ab") as log:
            subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def log(self) -> str:
        """What the programs started wrote."""
        return (self._work / "program.log").read_text("utf-8", "replace")

    def processes(self) -> list[str]:
        """Ids of Gannet's processes in this system."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if (path / "root").readlink() == self.root and "gannet" in (path / "exe").readlink().name:
                    found.append(path.name)
        return found

    def window_seconds(self) -> float:
        """Processor time that the window's own process has used."""
        used = 0.0
        for pid in self.processes():
            with contextlib.suppress(OSError):
                if Path(f"/proc/{pid}/exe").readlink().name == "gannet":
                    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                    used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return used

    def answers(self, finished: bool = True) -> list[str]:
        """The texts of the answers in the user's chats; also of those that are being given, if not `finished`."""
        store = self.root / self.home.lstrip("/") / ".local/share/Gannet/conversations.sqlite"
        if not store.exists():
            return []
        with contextlib.closing(sqlite3.connect(store, timeout=10)) as connection:
            rows = connection.execute(FINISHED if finished else BEGUN)
            return [str(row[0]) for row in rows]

    def files(self) -> set[str]:
        """Every path in this system but those of the package manager, and what it makes again after every change."""
        found: set[str] = set()
        for folder, folders, names in os.walk(self.root):
            place = folder.removeprefix(str(self.root)) + "/"
            folders[:] = [one for one in folders if not f"{place}{one}/".startswith(NOT_COUNTED) and one != "models"]
            found.update(f"{place}{name}" for name in (*names, *folders))
        return {path for path in found if not path.startswith((*NOT_COUNTED, *CACHES))}
