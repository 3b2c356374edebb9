#!/usr/bin/env bash
# tidy.sh [path-regex]: clang-tidy's checks (.clang-tidy) over the sources, or those whose path matches.
# Every warning fails. Takes minutes per room on two cores, so the suite does not call it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh
if ! command -v clang-tidy-22 >/dev/null; then
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends \
    clang-tidy-22 clang-tools-22 >&2
fi

# clang cannot read the precompiled headers of another compiler.
cmake --preset dev -B build-tidy -DTENON_USE_PCH=OFF >&2
exec run-clang-tidy-22 -clang-tidy-binary clang-tidy-22 -p build-tidy -quiet -j "$(nproc)" \
  -warnings-as-errors='*' "${1:-^$PWD/(src|runtime|tutorials)/}"
