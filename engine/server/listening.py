"""Opening the port: a clear error names who has it."""

from __future__ import annotations

import contextlib
import errno
import socket
import sys

import psutil

from engine.errors import GannetError


class PortError(GannetError):
    """The port cannot be opened; names the port and its holder.

    Attributes: `reason`, the message without what to do on a command line.
    """

    def __init__(self, reason: str, cure: str = "") -> None:
        super().__init__(f"{reason}; {cure}" if cure else reason)
        self.reason = reason


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises `PortError`."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise PortError(f"{host} is not an address of this machine") from None
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform == "win32":  # there the other option would let a second server take the port over
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(512)
    except OSError as error:
        opened.close()
        raise _port_error(host, port, error) from None
    opened.set_inheritable(False)
    return opened


def _port_error(host: str, port: int, error: OSError) -> PortError:
    if error.errno == errno.EADDRINUSE:
        holder = _holder(port)
        reason = f"port {port} is in use{f' by {holder}' if holder else ''}"
        return PortError(reason, "choose another with --port, or --port 0")
    if error.errno == errno.EACCES and sys.platform == "win32":  # any port can be kept back there, by Hyper-V for one
        return PortError(f"Windows keeps port {port} for another program", "choose another with --port, or --port 0")
    if error.errno == errno.EACCES:
        return PortError(f"port {port} needs more rights than this program has", "choose one above 1023 with --port")
    return PortError(f"cannot listen on {host} port {port}: {error.strerror or error}")


def _holder(port: int) -> str:
    """Name and process id of the process that listens on the port, as far as this user may know."""
    with contextlib.suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("inet"):
            if connection.laddr and connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                if connection.pid is None:
                    break
                return f"{psutil.Process(connection.pid).name()} (process {connection.pid})"
    return ""


def url_of(opened: socket.socket) -> str:
    """The address under which clients on this machine reach the socket."""
    host, port = opened.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
