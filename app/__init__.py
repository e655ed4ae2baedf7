"""The Gannet window: a Qt application that talks HTTP to an engine process and runs no native code of ours."""

APP_NAME = "Gannet"
APP_ID = "gannet"
