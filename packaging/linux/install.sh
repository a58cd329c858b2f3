#!/bin/sh
# Installs Burin from the unpacked archive for the current user, without root.
#
#   ./install.sh [--prefix FOLDER]                     installs; the default folder is ~/.local
#   FOLDER/share/burin/install.sh --uninstall          removes exactly what was installed
#
# Nothing outside the folder changes. Settings and state are kept; the end of --uninstall names their folders.
set -eu

usage() {
  sed -n '2,7s/^# \{0,1\}//p' "$0"
}

prefix=
action=install
while [ $# -gt 0 ]; do
  case $1 in
    --prefix)
      [ $# -ge 2 ] || { echo "install.sh: --prefix needs a folder" >&2; exit 2; }
      prefix=$2
      shift
      ;;
    --prefix=*) prefix=${1#--prefix=} ;;
    --uninstall) action=uninstall ;;
    -h | --help) usage; exit 0 ;;
    *) echo "install.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done

here=$(cd "$(dirname "$0")" && pwd)
if [ -z "$prefix" ]; then
  case $here in
    # The installed copy removes its own installation.
    */share/burin) prefix=${here%/share/burin} ;;
    *) prefix=${HOME:?HOME is not set}/.local ;;
  esac
fi
case $prefix in
  /*) ;;
  *) prefix=$(pwd)/$prefix ;;
esac
list=$prefix/share/burin/installed-files
# The database that the desktop makes of entries.
database=share/applications/mimeinfo.cache

# refresh: updates the caches of the desktop, where its programs exist.
refresh() {
  if command -v update-desktop-database >/dev/null 2>&1 && [ -d "$prefix/share/applications" ]; then
    update-desktop-database -q "$prefix/share/applications" 2>/dev/null || :
  fi
  if command -v gtk-update-icon-cache >/dev/null 2>&1 && [ -e "$prefix/share/icons/hicolor/icon-theme.cache" ]; then
    gtk-update-icon-cache -q -f "$prefix/share/icons/hicolor" 2>/dev/null || :
  fi
}

# remove_listed: removes the files of the list, then the folders that the installation made and that are empty.
remove_listed() {
  while IFS= read -r name; do
    case $name in
      */) ;;
      *) rm -f "$prefix/$name" ;;
    esac
  done <"$list"
  rm -f "$list"
  # The list has parents before their contents.
  sort -r "$1" | while IFS= read -r name; do
    case $name in
      ./) rmdir "$prefix" 2>/dev/null || : ;;
      */) rmdir "$prefix/$name" 2>/dev/null || : ;;
    esac
  done
}

uninstall() {
  [ -e "$list" ] || { echo "install.sh: nothing is installed in $prefix" >&2; exit 1; }
  copy=$(mktemp)
  cp "$list" "$copy"
  remove_listed "$copy"
  rm -f "$copy"
  # It was removed if the installation brought it; other entries may need one.
  if [ -e "$prefix/$database" ] || grep -qs '^MimeType=' "$prefix/share/applications/"*.desktop; then
    refresh
  fi
  echo "Burin was removed from $prefix. These folders with your settings and state were kept:"
  echo "  ${XDG_CONFIG_HOME:-$HOME/.config}/burin"
  echo "  ${XDG_STATE_HOME:-$HOME/.local/state}/burin"
  echo "  ${XDG_CACHE_HOME:-$HOME/.cache}/burin"
}

# make_folder NAME: makes a folder below the prefix and lists it, unless it is there.
make_folder() {
  [ -d "$prefix/$1" ] || { mkdir "$prefix/$1"; echo "$1/" >>"$new"; }
}

install_files() {
  [ "$here" != "$prefix/share/burin" ] || { echo "install.sh: run this from the unpacked archive" >&2; exit 2; }
  new=$(mktemp)
  trap 'rm -f "$new"' EXIT
  [ -d "$prefix" ] || { mkdir -p "$prefix"; echo ./ >>"$new"; }
  # Folders that an earlier installation made stay listed, so that --uninstall removes them.
  [ ! -e "$list" ] || grep '/$' "$list" >>"$new" || :
  (cd "$here" && find bin share -type d) | sort | while IFS= read -r folder; do
    make_folder "$folder"
  done
  make_folder share/burin
  (cd "$here" && find bin share ! -type d) | sort | while IFS= read -r file; do
    # A running program keeps its old file: the new one replaces the name.
    cp -P "$here/$file" "$prefix/$file.new"
    mv -f "$prefix/$file.new" "$prefix/$file"
    echo "$file" >>"$new"
  done
  # The desktop may not have the folder in its search path.
  desktop=$prefix/share/applications/burin.desktop
  escaped=$(printf '%s\n' "$prefix/bin/burin" | sed 's/[\\&|]/\\&/g')
  sed -e "s|^Exec=burin|Exec=\"$escaped\"|" -e "s|^TryExec=burin|TryExec=$escaped|" "$desktop" >"$desktop.new"
  mv -f "$desktop.new" "$desktop"
  cp "$here/install.sh" "$prefix/share/burin/install.sh"
  echo share/burin/install.sh >>"$new"
  # Files of an earlier version that this one lacks.
  if [ -e "$list" ]; then
    grep -v '/$' "$list" | while IFS= read -r file; do
      grep -qxF "$file" "$new" || rm -f "$prefix/$file"
    done
  fi
  if [ ! -e "$prefix/$database" ] || { [ -e "$list" ] && grep -qxF "$database" "$list"; }; then
    echo "$database" >>"$new"
  fi
  sort -u "$new" >"$list"
  echo share/burin/installed-files >>"$list"
  refresh
  echo "Burin was installed in $prefix. To remove it: $prefix/share/burin/install.sh --uninstall"
  case :${PATH:-}: in
    *:"$prefix/bin":*) ;;
    *) echo "Add $prefix/bin to your PATH to start it as burin." ;;
  esac
}

case $action in
  install) install_files ;;
  uninstall) uninstall ;;
esac
