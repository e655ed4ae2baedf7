"""What a Linux desktop is told about Gannet: the menu entry, the type of its model files, the manual page."""

from __future__ import annotations

from installer.places import NAME, WINDOW_NAME, summary

MIME_TYPE = "application/x-gguf"
SUMMARY_GERMAN = "Große Mixture-of-Experts-Sprachmodelle auf diesem Computer, Experten von der SSD gelesen"


def menu_entry() -> str:
    """The desktop entry. Its name is the application's id (`app.APP_ID`): a desktop finds the window's icon by it."""
    fields = {
        "Type": "Application",
        "Version": "1.4",
        "Name": WINDOW_NAME,
        "GenericName": "Chat with local language models",
        "GenericName[de]": "Chat mit lokalen Sprachmodellen",
        "Comment": summary(),
        "Comment[de]": SUMMARY_GERMAN,
        "Exec": f"{NAME} %f",
        "Icon": NAME,
        "Terminal": "false",
        "Categories": "Science;ArtificialIntelligence;",
        "Keywords": "LLM;AI;GGUF;MoE;chat;model;",
        "MimeType": f"{MIME_TYPE};",
        "StartupNotify": "true",
        "StartupWMClass": NAME,
    }
    return "[Desktop Entry]\n" + "".join(f"{key}={value}\n" for key, value in fields.items())


def mime_package() -> str:
    """The shared MIME database's entry for model files: by ending and by their first four bytes."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{MIME_TYPE}">
    <comment>GGUF model</comment>
    <comment xml:lang="de">GGUF-Modell</comment>
    <icon name="{NAME}"/>
    <glob pattern="*.gguf"/>
    <magic priority="50"><match type="string" offset="0" value="GGUF"/></magic>
  </mime-type>
</mime-info>
"""


def manual_page(version: str) -> str:
    """gannet(1), in troff."""
    return f""".TH GANNET 1 "" "Gannet {version}" "User commands"
.SH NAME
gannet \\- {summary()}
.SH SYNOPSIS
.B gannet
.RI [ FILE.gguf ]
.br
.B gannet
.IR COMMAND " [" ARGUMENTS ]
.SH DESCRIPTION
Without arguments, or with a model file, the window opens. With a command the same engine works in the terminal:
.BR chat ,
.BR generate ,
.BR serve ,
.BR inspect ,
.BR bench ,
.BR tune ,
.BR verify " and others;"
.B gannet help
lists them, and
.B gannet COMMAND \\-\\-help
explains one.
.SH ENVIRONMENT
.TP
.B GANNET_HOME
One folder for everything Gannet writes: settings, chats, models, logs.
.SH FILES
.I ~/.config/Gannet
has settings,
.I ~/.local/share/Gannet
chats and models; uninstalling removes neither.
"""
