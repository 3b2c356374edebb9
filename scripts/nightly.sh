#!/usr/bin/env bash
# nightly.sh: runs the checks that take too long for scripts/test.sh: the rehearsal of the device kit. Exit
# status: 0 if all pass, else 1.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/device_kit_rehearsal.sh
