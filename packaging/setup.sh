#!/usr/bin/env bash
# Installs what a fresh machine needs to build, run and test Burin.
#
#   packaging/setup.sh run      what `make run` needs (the default)
#   packaging/setup.sh test     that, and what the tests use
#   packaging/setup.sh bench    that of the tests, the peers that benchmarks compare with, and large sources in other languages
#   packaging/setup.sh package  that of `make run`, and what makes and checks packages
#
# Idempotent, never asks, and done at once when nothing is missing.
set -euo pipefail

purpose=${1:-run}
case $purpose in
  run | test | package | bench) ;;
  *) echo "setup.sh: unknown purpose '$purpose'; say run, test, package or bench" >&2; exit 2 ;;
esac

top=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$PATH:$HOME/.cargo/bin

# required NAME: the version of that name in the workspace's manifest.
required() {
  sed -n '/^\[workspace.metadata.toolchain\]/,/^\[workspace.dep/s/^'"$1"' = "\(.*\)"/\1/p' "$top/Cargo.toml"
}

# is_at_least FOUND WANTED: compares versions such as 1.98.0 and 1.98, part by part.
is_at_least() {
  local found wanted ix
  IFS=. read -r -a found <<<"${1%%[!0-9.]*}"
  IFS=. read -r -a wanted <<<"$2"
  for ix in "${!wanted[@]}"; do
    (( 10#${found[ix]:-0} == 10#${wanted[ix]} )) || { (( 10#${found[ix]:-0} > 10#${wanted[ix]} )); return; }
  done
}

# need_rust VERSION SYSTEM: ends unless cargo is there and rustc is new enough.
need_rust() {
  if ! command -v cargo >/dev/null; then
    echo "setup.sh: Rust is missing. Install it with rustup (see rustup.rs), then run this again." >&2
    exit 3
  fi
  local found
  found=$(rustc --version | cut -d' ' -f2)
  if ! is_at_least "$found" "$1"; then
    echo "setup.sh: Rust $found is too old: Burin needs $1 or newer on $2. Run: rustup update stable" >&2
    exit 3
  fi
}

mac() {
  local system
  system=$(sw_vers -productVersion)
  if ! is_at_least "$system" "$(required macos)"; then
    echo "setup.sh: macOS $system is too old: Burin needs macOS $(required macos) or newer." >&2
    exit 3
  fi
  if ! xcode-select -p >/dev/null 2>&1; then
    echo "setup.sh: the Xcode command line tools are missing. Run: xcode-select --install" >&2
    exit 3
  fi
}

debian() {
  local wanted=(build-essential pkg-config libxcb1-dev libxkbcommon-dev libxkbcommon-x11-dev
    libfontconfig-dev git libvulkan1 mesa-vulkan-drivers)
  # What reads packages; the tests use most of it too.
  [[ $purpose == run ]] || wanted+=(binutils desktop-file-utils fish squashfs-tools xz-utils zsh)
  [[ $purpose != package ]] || wanted+=(appstream man-db)
  case $purpose in
    test | bench) wanted+=(strace vttest ripgrep xvfb xdotool imagemagick openbox
      dbus at-spi2-core python3-pyatspi openssh-client openssh-server) ;;
  esac
  if [[ $purpose == bench ]]; then
    wanted+=(mousepad scite bubblewrap tmux)
    command -v npm >/dev/null || wanted+=(npm)
    python3 -m pip --version >/dev/null 2>&1 || wanted+=(python3-pip)
  fi
  local missing=() package
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' \
      || missing+=("$package")
  done
  [[ ${#missing[@]} -gt 0 ]] || return 0
  local root=()
  if [[ $(id -u) -ne 0 ]]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      root=(sudo -n)
    else
      echo "setup.sh: these packages are missing and installing them needs root: ${missing[*]}" >&2
      echo "Run: sudo apt-get install -y ${missing[*]}" >&2
      exit 3
    fi
  fi
  echo "setup.sh: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  "${root[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null 2>&1 || {
    "${root[@]}" apt-get update -qq
    "${root[@]}" apt-get install -y -qq "${missing[@]}" >/dev/null
  }
}

# sources: unpacks a package of large Python files and one of large TypeScript files, for `bench type` and `bench tab`.
sources() {
  local folder=${XDG_CACHE_HOME:-$HOME/.cache}/burin-bench-sources
  [[ ! -d $folder ]] || return 0
  echo "setup.sh: fetching sources for benchmarks"
  local fetched
  fetched=$(mktemp -d)
  python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$fetched" sympy==1.14.0
  (cd "$fetched" && npm pack --silent effect@3.17.7 >/dev/null)
  python3 -m zipfile -e "$fetched"/sympy-*.whl "$fetched/unpacked/python"
  mkdir "$fetched/unpacked/typescript"
  tar -xzf "$fetched"/effect-*.tgz -C "$fetched/unpacked/typescript"
  mkdir -p "$(dirname "$folder")"
  mv "$fetched/unpacked" "$folder"
  rm -r "$fetched"
}

case $(uname -s) in
  Darwin)
    need_rust "$(required macos-rust)" macOS
    mac
    ;;
  Linux)
    need_rust "$(required linux-rust)" Linux
    if command -v apt-get >/dev/null; then
      debian
    else
      echo "setup.sh: no apt-get here. Burin needs a C and C++ compiler, pkg-config, git, a Vulkan driver" >&2
      echo "and the development files of xcb, xkbcommon, xkbcommon-x11 and fontconfig." >&2
    fi
    ;;
  *) echo "setup.sh: Burin runs on Linux and macOS." >&2; exit 3 ;;
esac

[[ $purpose != bench ]] || sources
