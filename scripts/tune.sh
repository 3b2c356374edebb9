#!/usr/bin/env bash
# tune.sh [--ranks N] [--hosts FILE] [PROGRAM [ARGUMENT...]]: sets up, builds, and runs a tuning program
# under mpirun, as one process that searches and N (by default 1) that measure. PROGRAM is the name of a
# tutorial or the path of a program that calls tune::join_ranks; by default tune_mm. With --hosts the
# processes are spread over the machines of a host file, where the program must lie at the same path.
set -euo pipefail

ranks=1
hosts=()
while [[ ${1:-} == --* ]]; do
  case $1 in
    --ranks) ranks=${2:?} && shift 2 ;;
    --ranks=*) ranks=${1#*=} && shift ;;
    --hosts) hosts=(--hostfile "${2:?}") && shift 2 ;;
    --hosts=*) hosts=(--hostfile "${1#*=}") && shift ;;
    *)
      echo "tune.sh: unknown argument '$1'. Known: --ranks N, --hosts FILE." >&2
      exit 2
      ;;
  esac
done
if ! [[ $ranks =~ ^[1-9][0-9]*$ ]]; then
  echo "tune.sh: --ranks takes how many processes measure, at least 1; got '$ranks'." >&2
  exit 2
fi
program=${1:-tune_mm}
shift || true

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
"$root/scripts/setup.sh" --with-tuning
cmake -S "$root" --preset release >/dev/null
cmake --build "$root/build" >/dev/null
[[ -x $program ]] || program=$root/build/tutorials/$program

# More processes than cores are intended: all of them compile, but candidates run one at a time.
options=(--oversubscribe --enable-recovery -n $((ranks + 1)))
[[ $(id -u) == 0 ]] && options+=(--allow-run-as-root)

# The first process is the program; the others only measure for it. Its exit status is the script's. Open
# MPI's mpirun waits forever for a machine that has disappeared, so mpirun is ended some time after the first
# process.
ended=$(mktemp)
(
  until [[ -s $ended ]]; do sleep 1; done
  sleep 20
  pkill -KILL -P $$ -x mpirun
) 2>/dev/null &
watcher=$!
status=0
# shellcheck disable=SC2016
mpirun "${options[@]}" "${hosts[@]}" bash -c '
  status=0
  "${@:2}" || status=$?
  if [[ $OMPI_COMM_WORLD_RANK == 0 ]]; then echo $status >"$1"; fi
  exit $status' tune.sh "$ended" "$program" "$@" || status=$?
kill "$watcher" 2>/dev/null || true
[[ -s $ended ]] && status=$(<"$ended")
rm -f "$ended"
exit "$status"
