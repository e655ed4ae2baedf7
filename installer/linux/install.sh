#!/bin/sh
# Installs Gannet for one user, without root, from the folder this script lies in. The .run file unpacks and starts it:
#   sh Gannet-VERSION.run                          into ~/.local
#   sh Gannet-VERSION.run -- --prefix FOLDER       somewhere else
# FOLDER/lib/gannet/uninstall removes exactly what was installed; chats, settings and models stay.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
prefix=$HOME/.local
while [ $# -gt 0 ]; do
    case $1 in
    --prefix) [ $# -gt 1 ] || { echo "gannet: --prefix needs a folder" >&2; exit 2; }; prefix=$2; shift 2 ;;
    *) echo "gannet: $1: unknown; what is known is --prefix FOLDER" >&2; exit 2 ;;
    esac
done
mkdir -p "$prefix" 2>/dev/null || { echo "gannet: $prefix cannot be made; choose another with -- --prefix FOLDER" >&2; exit 1; }
prefix=$(cd "$prefix" && pwd)
[ -w "$prefix" ] || { echo "gannet: $prefix cannot be written to; choose another with -- --prefix FOLDER" >&2; exit 1; }
program=$prefix/lib/gannet

# A newer version is not replaced: its chats may be of a form that this one cannot read.
new=$(cat "$here/version")
if [ -f "$program/version" ]; then
    old=$(cat "$program/version")
    newest=$(printf '%s\n%s\n' "$old" "$new" | sort -V | tail -n 1)
    if [ "$old" != "$new" ] && [ "$newest" = "$old" ]; then
        echo "gannet: $old is installed, which is newer than $new; remove it first: $program/uninstall" >&2
        exit 3
    fi
    sh "$program/uninstall" --quiet
fi

# All or nothing: the program's folder appears under its name when it is complete.
mkdir -p "$prefix/lib"
rm -rf "$program.new"
trap 'rm -rf "$program.new"' EXIT
cp -R "$here/tree/lib/gannet" "$program.new"
cp "$here/version" "$program.new/version"
cp "$here/uninstall.sh" "$program.new/uninstall"
chmod 755 "$program.new/uninstall"
mv "$program.new" "$program"
trap - EXIT

# Menus know no search path, so the entry names the program; quoted as the desktop entry specification wants it.
quoted=$(printf '%s' "$program/gannet" | sed -e 's/[\\"`$]/\\&/g' -e 's/\\/\\\\/g' -e 's/%/%%/g')
(cd "$here/tree" && find bin share -type f -o -type l) | sort | while IFS= read -r file; do
    mkdir -p "$prefix/$(dirname "$file")"
    rm -f "$prefix/$file"
    cp -P "$here/tree/$file" "$prefix/$file"
    printf '%s\n' "$file" >>"$program/installed-files"
done
entry=$prefix/share/applications/gannet.desktop
while IFS= read -r line; do
    case $line in
    Exec=*) printf 'Exec="%s" %%f\n' "$quoted" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$here/tree/share/applications/gannet.desktop" >"$entry"
if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$prefix/share/applications" || :; fi
if command -v update-mime-database >/dev/null; then update-mime-database "$prefix/share/mime" >/dev/null 2>&1 || :; fi
echo "Gannet $new is in $program. Start it from the menu, or with $prefix/bin/gannet"
echo "To remove it: $program/uninstall"
