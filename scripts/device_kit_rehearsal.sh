#!/usr/bin/env bash
# device_kit_rehearsal.sh [--archive FILE] [--stops N]: runs the device kit's archive in a bare Debian root,
# which debootstrap makes and build/device_kit/root keeps: with OpenCL on the CPU, with the stand-in driver,
# and N times (by default ten) killed at a random moment and started again. Builds the archive unless one is
# given. Prints one line per fact, which begins with "ok" or "NOT". Needs root, or sudo. Exit status: 0 if all
# facts hold, else 1.
set -euo pipefail

archive= stops=10
while [ $# -gt 0 ]; do
  case $1 in
    --archive) archive=$(realpath "${2:?}") && shift ;;
    --stops) stops=${2:?} && shift ;;
    *)
      echo "device_kit_rehearsal.sh: unknown argument '$1'. Known: --archive FILE, --stops N." >&2
      exit 2
      ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts/setup.sh --with-packages
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
if [ -z "$archive" ]; then
  scripts/device_kit.sh --opencl
  archive=$PWD/build/device_kit/tenon-device-kit.tar.xz
fi

status=0
# fact "a sentence" COMMAND...: whether the command succeeds
fact() {
  local sentence=$1
  shift
  if "$@" >/dev/null; then echo "ok   $sentence"; else echo "NOT  $sentence"; status=1; fi
}

# ---- The root ---------------------------------------------------------------------------------------------

root=$PWD/build/device_kit/root
# in_root COMMAND...: with a /proc of its own; processes that are left end with the command. Optimized, PoCL
# 3.1 miscompiles some kernels (src/codegen/c_like/pocl_faults.md).
in_root() {
  "${as_root[@]}" unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" \
    sh -c 'mount --rbind /sys "$0/sys" && exec chroot "$0" "$@"' "$root" \
    /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable "$@"
}
make_root() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  "${as_root[@]}" rm -rf --one-file-system "$root"
  mkdir -p "$root"
  "${as_root[@]}" env ${proxy:+http_proxy="$proxy"} debootstrap --variant=minbase bookworm "$root" \
    "${mirror:-http://deb.debian.org/debian}"
  apt-config dump | grep -E '^Acquire::(http|https|Check-)' |
    "${as_root[@]}" tee "$root/etc/apt/apt.conf.d/99host" || true
  "${as_root[@]}" cp /etc/hosts /etc/resolv.conf "$root/etc/"
  in_root apt-get -q -y --no-install-recommends install pocl-opencl-icd ocl-icd-libopencl1
  "${as_root[@]}" touch "$root/complete"
}
[ -e "$root/complete" ] || make_root >&2
# Nothing of an earlier rehearsal: results, the OpenCL compiler's cache.
"${as_root[@]}" rm -rf --one-file-system "$root/root" "$root/kit"
"${as_root[@]}" mkdir "$root/root" "$root/kit"

# ---- The archive ------------------------------------------------------------------------------------------

fact "the archive has $(stat -c %s "$archive") bytes, less than 60 MB" \
  [ "$(stat -c %s "$archive")" -lt 60000000 ]
fact "the root has no library of TBB, Tenon or CUDA" \
  [ -z "$(find "$root" -name 'libtbb*' -o -name 'libtenon*' -o -name 'libcuda*' -o -name 'libnvrtc*')" ]
run=/kit/tenon-device-kit/run.sh
start=$EPOCHREALTIME
"${as_root[@]}" tar -xf "$archive" -C "$root/kit"
in_root $run --stand-in --steps probe --out /root/first >&2
seconds=$(awk "BEGIN { print $EPOCHREALTIME - $start }")
fact "unpacked to first result in $seconds s, less than 20 s" awk "BEGIN { exit !($seconds < 20) }"

# ---- Both devices -----------------------------------------------------------------------------------------

# page FOLDER: steps and their results, in one line
page() {
  sed -E 's/.*"step":"([^"]*)","status":"([^"]*)".*"what":"([^"]*)".*/\1 \2 (\3)/' "$1/steps.jsonl" |
    paste -sd,
}

for mode in "--device opencl" --stand-in; do
  out=/root/${mode#--}
  out=${out/ /_}
  start=$EPOCHSECONDS
  result=0
  in_root $run $mode --out "$out" >&2 || result=$?
  whole=$((EPOCHSECONDS - start))
  fact "run.sh $mode ends with 0 (it ended with $result) in $whole s: $(page "$root$out")" [ $result -eq 0 ]
done
fact "the stand-in run took $whole s, and the other steps on a device take at most 240 s: less than 600 s" \
  [ $((whole + 240)) -lt 600 ]

# ---- Stops ------------------------------------------------------------------------------------------------

# Compares the results of a killed run and its rerun with an uninterrupted run; prints what is wrong.
compare() {
  python3 - "$@" <<'END'
import json, pathlib, sys

before, after, whole = (pathlib.Path(folder) for folder in sys.argv[1:4])


def results(folder, is_stopped=False):
    """(file, step or case, group) and its finished lines."""
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        text = path.read_text()
        lines = text.splitlines()
        if is_stopped and not text.endswith("\n"):
            lines = lines[:-1]
        for line in lines:
            value = json.loads(line)
            if value.get("status") in ("started", "stopped", None):
                continue
            key = path.name, value.get("step") or value.get("case"), value.get("group")
            found.setdefault(key, []).append(value)
    return found


old, new, right = results(before, True), results(after), results(whole)
lost = [key for key in old if new.get(key, [])[:len(old[key])] != old[key]]
again = [key for key in new if len(new[key]) > 1]
status = {key: lines[-1]["status"] for key, lines in new.items()}
other = [key for key, lines in right.items() if status.get(key) != lines[-1]["status"]]
print(f"{len(old)} results kept" if not lost else f"lost: {lost[:3]}", end="")
print(f"; run twice: {again[:3]}" if again else "", end="")
print(f"; not as without the stop: {other[:3]}" if other else "")
sys.exit(bool(lost or again or other))
END
}

# Copies the results just before the stop. The group is the run's own.
stop='
setsid "$0" --stand-in --out /root/stopped >/root/output 2>&1 &
group=$!
disown
sleep "$1"
cp -r /root/stopped /root/before
kill -KILL -- -$group
sleep 0.2
for left in /proc/[0-9]*/exe; do
  case $(readlink "$left") in */device_kit) echo "${left} goes on" ;; esac
done'

for ((n = 1; n <= stops; ++n)); do
  "${as_root[@]}" rm -rf "$root"/root/{stopped,before,output,left}
  moment=$(awk "BEGIN { srand($RANDOM$n); printf \"%.1f\", 0.3 + rand() * $whole * 0.8 }")
  in_root bash -c "$stop" $run "$moment" >"$root/root/left" 2>&1
  # A step that has been announced has its line.
  announced=$(grep -cE '^[a-z_]+ +(right|wrong) +[0-9]+ s ' "$root/root/output" || true)
  listed=$(grep -c '"step"' "$root/root/stopped/steps.jsonl" || true)
  result=0
  in_root $run --stand-in --out /root/stopped >"$root/root/rerun" 2>&1 || result=$?
  compared=$(compare "$root"/root/{before,stopped,stand-in} 2>&1) && is_same=yes || is_same=
  sentence="killed after $moment s in step $((announced + 1)): $compared"
  fact "$sentence; the rerun ends with 0 (it ended with $result)" \
    [ "$is_same$result$(wc -c <"$root/root/left")" = yes00 -a "${listed:-0}" -ge "$announced" ]
done
exit $status
