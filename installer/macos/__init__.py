"""The macOS package: the contents of the .app's Info.plist, the disk image, and signing where there are keys for it."""
