#!/usr/bin/env bash
# build.sh <preset> [target]...: configures the preset and builds the targets, or everything. Reports
# progress on the standard error: in one line on a terminal, every 30 seconds elsewhere. A failure prints the
# whole log.
set -euo pipefail

preset=$1
shift
targets=()
[ $# -eq 0 ] || targets=(--target "$@")

cd "$(dirname "${BASH_SOURCE[0]}")/.."
log=$(mktemp)
build=
# Ctrl-C reaches the background build only through this.
trap '[ -z "$build" ] || kill "$build" 2>/dev/null || true; rm -f "$log"' EXIT

say() { echo "build.sh: $*" >&2; }

say "configuring '$preset'"
if ! cmake --preset "$preset" >"$log" 2>&1; then
  cat "$log" >&2
  say "cmake --preset $preset failed; its messages are above."
  exit 1
fi

if [ -t 2 ]; then
  NINJA_STATUS="building Tenon: %p, %es  " cmake --build --preset "$preset" "${targets[@]}" >&2
  exit
fi

NINJA_STATUS="[%f/%t] " cmake --build --preset "$preset" "${targets[@]}" >"$log" 2>&1 &
build=$!
say "building ${*:-everything}"
next=30
while kill -0 "$build" 2>/dev/null; do
  sleep 1
  if [ "$SECONDS" -ge "$next" ]; then
    steps=$(grep -oE '^\[[0-9]+/[0-9]+' "$log" | tail -n 1 | tr -d '[' || true)
    say "$SECONDS s: ${steps:-no} steps done"
    next=$((SECONDS + 30))
  fi
done
if ! wait "$build"; then
  build=
  cat "$log" >&2
  say "the build failed; its messages are above."
  exit 1
fi
build=
say "done after $SECONDS s"
