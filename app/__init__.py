"""The Gannet window: a Qt application that talks HTTP to a supervised engine process and runs no native code of ours."""

APP_NAME = "Gannet"
APP_ID = "gannet"
