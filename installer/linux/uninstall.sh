#!/bin/sh
# Removes what install.sh put beside this folder, and this folder; chats, settings and models stay.
set -eu
program=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "$program/../.." && pwd)
while IFS= read -r file; do
    rm -f "$prefix/$file"
done <"$program/installed-files"
share=$prefix/share
if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$share/applications" || :; fi
if command -v update-mime-database >/dev/null; then update-mime-database "$share/mime" >/dev/null 2>&1 || :; fi
# What those two programs made is theirs to keep only while there is something in it.
if [ -d "$share/mime/packages" ] && [ -z "$(ls -A "$share/mime/packages")" ]; then rm -rf "$share/mime"; fi
if [ "$(ls -A "$share/applications" 2>/dev/null)" = mimeinfo.cache ]; then rm -f "$share/applications/mimeinfo.cache"; fi
# Folders that are empty now, the deepest first.
while IFS= read -r file; do
    folder=$(dirname "$file")
    while [ "$folder" != . ]; do
        rmdir "$prefix/$folder" 2>/dev/null || break
        folder=$(dirname "$folder")
    done
done <"$program/installed-files"
rm -rf "$program"
rmdir "$prefix/lib" 2>/dev/null || true
[ "${1:-}" = --quiet ] || echo "Gannet is removed. Chats, settings and models stay in ~/.local/share/Gannet and ~/.config/Gannet."
