#!/usr/bin/env bash
# Installs what a fresh machine needs to build, run and test Burin.
#
#   packaging/setup.sh run     what `make run` needs (the default)
#   packaging/setup.sh test    that, and what the tests use
#   packaging/setup.sh bench   that, and the peers that benchmarks compare with
#
# Idempotent, never asks, and done at once when nothing is missing.
set -euo pipefail

purpose=${1:-run}
case $purpose in
  run | test | bench) ;;
  *) echo "setup.sh: unknown purpose '$purpose'; say run, test or bench" >&2; exit 2 ;;
esac

need_cargo() {
  if command -v cargo >/dev/null || [[ -x $HOME/.cargo/bin/cargo ]]; then return; fi
  echo "setup.sh: Rust is missing. Install it with rustup (see rustup.rs), then run this again." >&2
  exit 3
}

mac() {
  if ! xcode-select -p >/dev/null 2>&1; then
    echo "setup.sh: the Xcode command line tools are missing. Run: xcode-select --install" >&2
    exit 3
  fi
}

debian() {
  local wanted=(build-essential pkg-config libxcb1-dev libxkbcommon-dev libxkbcommon-x11-dev
    libfontconfig-dev git libvulkan1 mesa-vulkan-drivers)
  [[ $purpose == run ]] || wanted+=(strace ripgrep xvfb xdotool imagemagick openbox
    dbus at-spi2-core python3-pyatspi)
  [[ $purpose != bench ]] || wanted+=(mousepad scite bubblewrap)
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

need_cargo
case $(uname -s) in
  Darwin) mac ;;
  Linux)
    if command -v apt-get >/dev/null; then
      debian
    else
      echo "setup.sh: no apt-get here. Burin needs a C and C++ compiler, pkg-config, git, a Vulkan driver" >&2
      echo "and the development files of xcb, xkbcommon, xkbcommon-x11 and fontconfig." >&2
    fi
    ;;
  *) echo "setup.sh: Burin runs on Linux and macOS." >&2; exit 3 ;;
esac
