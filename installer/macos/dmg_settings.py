"""Settings that dmgbuild executes; `-D app=PATH` names the application. See `installer.macos.dmg`."""

from pathlib import Path

application = globals()["defines"]["app"]  # dmgbuild puts it there
format = "UDZO"
filesystem = "HFS+"
files = [application]
symlinks = {"Applications": "/Applications"}
icon_locations = {Path(application).name: (150, 170), "Applications": (450, 170)}
window_rect = ((200, 200), (600, 380))
icon_size = 128
text_size = 13
default_view = "icon-view"
show_toolbar = show_sidebar = show_status_bar = show_pathbar = False
