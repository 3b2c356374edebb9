#!/usr/bin/env bash
# run.sh [OPTION...]: checks and measures Tenon's kernels on this machine's GPU. Needs only the GPU's driver;
# the steps `sanitizers`, `torch` and `counters` also need compute-sanitizer, PyTorch and ncu.
#
#   --steps A,B,...    the steps to run, in this order; by default all: see `all_steps` below
#   --without A,B,...  steps to leave out
#   --out FOLDER       where the results go, by default ./results. A second run with the same folder runs only
#                      the steps that have no result there.
#   --pack FILE        also keep the folder as FILE, a .tar.gz, renewed after each step
#   --seconds N        time limit of the whole run, by default 540; with OpenCL six times as long
#   --device opencl    use the OpenCL device instead of the GPU, for the steps that it can run
#   --stand-in         use a driver that checks the calls and runs no kernel instead of the GPU's
#
# Results: steps.jsonl has one line per step, STEP.jsonl the lines of the step's cases, logs/STEP.log the
# output of its programs. Exit status: 0 if all steps ran and are right, 3 if there is no device, else 1.
set -uo pipefail
export LC_ALL=C

kit=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
runner=$kit/bin/device_kit

all_steps=(probe runtime topi tensor_cores tutorials random ptx sanitizers tables torch counters)
declare -A limits=([probe]=30 [runtime]=40 [topi]=90 [tensor_cores]=60 [tutorials]=40 [random]=90 [ptx]=60
                   [sanitizers]=120 [tables]=90 [torch]=60 [counters]=60)
# Twelve prefixes of names; the first case of each is run.
sanitized_cases=(matmul_ matmul_transposed batch_matmul_ conv2d_ softmax_ sum_of_rows_ sum_of_columns_
                 argmax_of_rows_ transpose_ map_symbolic matmul_float16 matmul_int8)
profiled_cases=(product_float32_4096 product_float16_4096 softmax transpose)

fail() { echo "run.sh: $*" >&2; exit 2; }

# ---- Arguments --------------------------------------------------------------------------------------------

steps=() without=() out=results pack= seconds= device=cuda stand_in=
while [ $# -gt 0 ]; do
  [ "$1" = --stand-in ] || [ $# -gt 1 ] || fail "$1 needs a value, or is unknown."
  case $1 in
    --steps) IFS=, read -ra steps <<<"$2" ;;
    --without) IFS=, read -ra without <<<"$2" ;;
    --out) out=$2 ;;
    --pack) pack=$2 ;;
    --seconds) seconds=$2 ;;
    --device) device=$2 ;;
    --stand-in) stand_in=yes; shift; continue ;;
    *) fail "unknown argument '$1'. The options are in the first lines of this file." ;;
  esac
  shift 2
done
[[ $device =~ ^(cuda|opencl)$ ]] || fail "--device takes cuda or opencl; got '$device'."
[ -z "$stand_in" ] || [ $device = cuda ] || fail "--stand-in and --device opencl exclude each other."
for step in ${steps[@]+"${steps[@]}"} ${without[@]+"${without[@]}"}; do
  [ -n "${limits[$step]:-}" ] || fail "there is no step '$step'. There are: ${all_steps[*]}."
done
if [ ${#steps[@]} -eq 0 ]; then
  steps=("${all_steps[@]}")
  [ -z "$stand_in" ] || steps=(probe runtime topi tensor_cores tutorials random ptx tables)
  [ $device = cuda ] || steps=(runtime topi tutorials random)
fi
# A CPU is slower, and its driver compiles each kernel.
slowness=1
[ $device = cuda ] || slowness=6
seconds=${seconds:-$((540 * slowness))}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "--seconds takes a positive number; got '$seconds'."
kept=()
for step in "${steps[@]}"; do
  [[ " ${without[*]-} " == *" $step "* ]] || kept+=("$step")
done
[ ${#kept[@]} -gt 0 ] || fail "no step is left to run."
steps=("${kept[@]}")

mkdir -p "$out/logs" || fail "the folder '$out' cannot be made."
out=$(cd "$out" && pwd)
scratch=$(mktemp -d)
end=$((EPOCHSECONDS + seconds))

# ---- Processes --------------------------------------------------------------------------------------------

# Every program started here has this variable, so that those that outlive a stop are found.
mark=TENON_DEVICE_KIT_RUN
kill_leftovers() {
  local environ pid
  for environ in /proc/[0-9]*/environ; do
    pid=${environ#/proc/} pid=${pid%/environ}
    if grep -qszxF "$mark=$out" "$environ"; then kill -KILL "$pid" 2>/dev/null; fi
  done
  return 0
}
# Exit status 124 or 137: stopped at `step_end`. In the foreground, so that all processes stay in one group.
limited() {
  local left=$((step_end - EPOCHSECONDS))
  [ $left -gt 0 ] || return 124
  timeout --foreground --kill-after=3 $left env "$mark=$out" "$@"
}
on_signal() { kill_leftovers; exit 130; }
trap on_signal INT TERM HUP
trap 'rm -rf "$scratch"' EXIT

# The first tool of the name on the path or where CUDA and its profilers are installed.
find_tool() {
  command -v "$1" && return
  local file
  for file in /usr/local/cuda/bin/"$1" /usr/local/cuda-*/bin/"$1" /opt/nvidia/nsight-compute/*/"$1" \
              /usr/local/nvidia/bin/"$1"; do
    if [ -x "$file" ]; then echo "$file"; return; fi
  done
  return 1
}

# The interpreter that has PyTorch, if one has.
find_python() {
  local file
  for file in "$(command -v python3)" /opt/*/.venv/bin/python3 /opt/*/bin/python3; do
    if [ -x "$file" ] && "$file" -c \
       'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' 2>/dev/null; then
      echo "$file"
      return
    fi
  done
  return 1
}

# cuBLAS of the system, or the one that a Python environment has brought.
find_cublas() {
  local folder python file
  local folders=(/usr/local/cuda/lib64 /usr/local/cuda-*/lib64 /usr/lib/x86_64-linux-gnu)
  if python=$(find_python || command -v python3); then
    while read -r folder; do
      folders+=("$folder"/nvidia/*/lib)
    done < <("$python" -c 'import sys; print("\n".join(p for p in sys.path if p))' 2>/dev/null)
  fi
  for folder in "${folders[@]}"; do
    for file in "$folder"/libcublas.so.13 "$folder"/libcublas.so.12; do
      if [ -e "$file" ]; then echo "$file"; return; fi
    done
  done
  return 1
}

# ---- Results ----------------------------------------------------------------------------------------------

quoted() {
  local text=${1//[[:cntrl:]]/ }
  text=${text//\\/\\\\}
  printf '"%s"' "${text//\"/\\\"}"
}

# The lines' field of this name, a string.
field() { sed -nE "s/.*\"$1\": ?\"([^\"]*)\".*/\1/p"; }

# The status that the step ended with, nothing if it did not end.
status_of() { grep -s "\"step\":\"$1\"" "$out/steps.jsonl" | tail -n 1 | field status; }

# "57 right, 1 wrong, 20 values": the last line of each case counts.
count_lines() {
  awk '
    match($0, /"case": ?"[^"]*"/) { name = FILENAME substr($0, RSTART, RLENGTH) }
    match($0, /"group": ?"[^"]*"/) { name = name substr($0, RSTART, RLENGTH) }
    match($0, /"status": ?"[a-z]*"/) {
      status = substr($0, RSTART, RLENGTH); gsub(/"status": ?|"/, "", status); last[name] = status
    }
    /"value": ?[0-9]/ { values[name] = 1 }
    END {
      for (name in last) ++count[last[name]]
      for (name in values) ++count["values"]
      split("right wrong error crashed started stopped skipped values", order, " ")
      for (n = 1; n <= 8; ++n)
        if (count[order[n]]) { printf "%s%d %s", separator, count[order[n]], order[n]; separator = ", " }
    }' "$@" 2>/dev/null
}

pack_results() {
  [ -n "$pack" ] || return 0
  tar -C "$(dirname "$out")" -czf "$scratch/pack" "$(basename "$out")" && mv "$scratch/pack" "$pack"
}

# ---- Steps ------------------------------------------------------------------------------------------------
# Each leaves its status in `status` (right, wrong, stopped, skipped, no_device) and a few words in `what`.

note() { what+="${what:+; }$1"; }

# judge EXIT_STATUS: of one of the step's programs. The worst stays.
judge() {
  case $1 in
    0) ;;
    3) status=no_device ;;
    124 | 137) [ $status != right ] || status=stopped ;;
    *) status=wrong ;;
  esac
  case $1 in 0 | 1 | 3 | 124 | 137) ;; *) note "exit status $1" ;; esac
}

device_field() { cat "$out/probe.jsonl" 2>/dev/null | field "$1" | tail -n 1; }

# pick_kernels CAPABILITY: the folder of the newest architecture that is not newer than the device; without a
# capability the newest.
pick_kernels() {
  local wanted=${1/./} best=0 folder number
  if [ $device = opencl ]; then kernels=$kit/kernels/opencl; return; fi
  for folder in "$kit"/kernels/sm_*; do
    number=${folder##*_}
    if [[ $number =~ ^[0-9]+$ ]] && ((number <= ${wanted:-999} && number > best)); then best=$number; fi
  done
  kernels=$kit/kernels/sm_$best
}

# Options of the runner that hold for the whole run.
runner_options=()
[ -z "$stand_in" ] || runner_options+=(--no-numbers)
[ $device = cuda ] || runner_options+=(--device $device)

# check GROUP KERNELS [RESULTS]
check() {
  local results=$out/${3:-$step}.jsonl
  # The runner ends by itself before the step's limit.
  limited "$runner" check --kernels "$2" --group "$1" --results "$results" \
    --limit $((step_end - EPOCHSECONDS)) ${runner_options[@]+"${runner_options[@]}"}
  judge $?
  if ! grep -qsE "\"group\": ?\"$1\"" "$results" && [ $status = right ]; then
    status=wrong
    note "no cases of the group $1"
  fi
}

step_probe() {
  local tool driver= capability=
  if [ -z "$stand_in" ] && [ $device = cuda ] && tool=$(find_tool nvidia-smi); then
    driver=$(limited "$tool" --query-gpu=name,driver_version,memory.total --format=csv,noheader | head -n 1)
    capability=$(limited "$tool" --query-gpu=compute_cap --format=csv,noheader | head -n 1)
    [[ $capability =~ ^[0-9]+\.[0-9]$ ]] || capability=
  fi
  printf '{"date":"%s","commit":%s,"nvidia_smi":%s}\n' "$(date -u +%FT%TZ)" \
    "$(quoted "$(cat "$kit/COMMIT")")" "$(quoted "$driver")" >"$out/probe.jsonl"
  pick_kernels "$capability"
  limited "$runner" probe --kernels "$kernels" --results "$out/probe.jsonl" \
    ${runner_options[@]+"${runner_options[@]}"}
  judge $?
  note "$(device_field device) $(device_field capability)"
}

step_runtime() { check runtime "$kernels"; }
step_topi() { check topi "$kernels"; }
step_tutorials() { check tutorials "$kernels"; }
step_random() {
  check random "$kernels"
  check blocks "$kernels"
  check reductions "$kernels"
}

# Kernels for exactly this architecture (sm_90a) are in a folder of their own.
step_tensor_cores() {
  check tensor_cores "$kernels"
  [ ! -d "${kernels}a" ] || check tensor_cores "${kernels}a" "tensor_cores_${kernels##*/}a"
}

# On a device of capability 9.0 or later the driver compiles the PTX of these kernels.
step_ptx() { check topi "$kit/kernels/sm_80"; }

# ---- Tools of CUDA

finding='Invalid|Error|Warning|Race|Barrier|Potential|Divergent|Misaligned|Program hit'

# sanitize_case TOOL CASE: one line in sanitizers.jsonl
sanitize_case() {
  local log=$scratch/$1.$2.log start=$EPOCHSECONDS status what result
  local case_end=$((step_end < start + 30 ? step_end : start + 30))
  step_end=$case_end limited "$sanitizer" --tool "$1" --print-limit 10 \
    "$runner" run --kernels "$kernels" --only "$2" >"$log" 2>&1
  result=$?
  what=$(grep -E "^========= +($finding)" "$log" | head -n 1)
  # A run without a summary failed.
  if grep -qE 'SUMMARY: 0 (errors|hazards)' "$log" && [ $result -eq 0 ]; then
    status=right what=
  elif grep -qE 'SUMMARY: [1-9]' "$log"; then
    status=wrong
    what="$(grep -hoE '[A-Z]+ SUMMARY: .*' "$log" | tail -n 1); ${what#========= }"
  elif [ $result -eq 124 ] || [ $result -eq 137 ]; then
    status=stopped
  else
    status=error
    what="exit status $result; ${what:-$(grep -E '^=========' "$log" | tail -n 1)}"
  fi
  [ $status = right ] || cp "$log" "$out/logs/"
  printf '{"case":%s,"group":"%s","status":"%s","seconds":%d,"what":%s}\n' "$(quoted "$2")" "$1" $status \
    $((EPOCHSECONDS - start)) "$(quoted "$what")" >>"$out/sanitizers.jsonl"
}

step_sanitizers() {
  local tool prefix names=() name
  if ! sanitizer=$(find_tool compute-sanitizer); then
    status=skipped what="compute-sanitizer is not installed"
    return
  fi
  for prefix in "${sanitized_cases[@]}"; do
    name=$(ls "$kernels" | sed -n "s/^\($prefix.*\)\.json$/\1/p" | head -n 1)
    if [ -n "$name" ]; then
      names+=("$name")
    else
      judge 1
      note "no case $prefix"
    fi
  done
  for tool in memcheck racecheck synccheck; do
    for name in "${names[@]}"; do
      ((EPOCHSECONDS < step_end)) || continue
      grep -qsE "\"$name\",\"group\":\"$tool\",\"status\":\"(right|wrong)\"" "$out/sanitizers.jsonl" &&
        continue
      sanitize_case $tool "$name" &
      while [ "$(jobs -r | wc -l)" -ge 4 ]; do wait -n; done
    done
  done
  wait
  case $(count_lines "$out/sanitizers.jsonl") in
    *wrong* | *error*) judge 1 ;;
    *stopped*) judge 124 ;;
    *) ((EPOCHSECONDS < step_end)) || judge 124 ;;
  esac
}

step_tables() {
  local environment=() cublas=
  if [ -z "$stand_in" ] && cublas=$(find_cublas); then
    environment=("TENON_CUBLAS=$cublas" "LD_LIBRARY_PATH=${cublas%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
  fi
  limited env ${environment[@]+"${environment[@]}"} \
    "$runner" measure --kernels "$kernels" --results "$out/tables.jsonl" \
    ${runner_options[@]+"${runner_options[@]}"}
  judge $?
  note "${cublas:-without cuBLAS}"
}

step_torch() {
  local python
  if ! python=$(find_python); then
    status=skipped what="no python3 here has PyTorch"
    return
  fi
  limited "$python" "$kit/torch_tables.py" --results "$out/torch.jsonl"
  judge $?
}

# profile CASE METRICS: ncu's table of the third launch, as CSV. The runner calls Tenon's kernels first.
profile() {
  limited "$ncu" --csv --print-units base --clock-control none --target-processes all --launch-skip 2 \
    --launch-count 1 --metrics "$2" \
    "$runner" measure --kernels "$kernels" --only "table_$1" --results "$scratch/profiled.jsonl"
}

metric_names='
  gpu__time_duration.sum duration
  dram__throughput.avg.pct_of_peak_sustained_elapsed dram
  sm__throughput.avg.pct_of_peak_sustained_elapsed sm
  sm__warps_active.avg.pct_of_peak_sustained_active occupancy
  launch__registers_per_thread registers'
conflict_names='
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum load_conflicts
  l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum store_conflicts'

step_counters() {
  local name result metrics conflicts
  if ! ncu=$(find_tool ncu); then
    status=skipped what="ncu is not installed"
    return
  fi
  metrics=$(awk 'NF { printf "%s%s", separator, $1; separator = "," }' <<<"$metric_names")
  conflicts=$(awk 'NF { printf ",%s", $1 }' <<<"$conflict_names")
  for name in "${profiled_cases[@]}"; do
    grep -qs "\"case\":\"$name " "$out/counters.jsonl" && continue
    rm -f "$scratch/profiled.jsonl"
    profile "$name" "$metrics$conflicts" >"$scratch/ncu" 2>&1
    result=$?
    # ncu refuses the whole request if the device lacks one of the metrics.
    if ! grep -q '^"[0-9]' "$scratch/ncu"; then
      cat "$scratch/ncu"
      rm -f "$scratch/profiled.jsonl"
      profile "$name" "$metrics" >"$scratch/ncu" 2>&1
      result=$?
    fi
    cat "$scratch/ncu"
    # Fields are quoted and may hold commas. The last three are the metric's name, unit and value.
    awk -F'","' -v name="$name" -v names="$metric_names$conflict_names" '
      BEGIN {
        count = split(names, words, " ")
        for (n = 1; n < count; n += 2) short[words[n]] = words[n + 1]
      }
      /^"[0-9]+",/ {
        value = $NF
        gsub(/[",\r]/, "", value)
        printf "{\"table\":\"counters\",\"case\":\"%s %s\",\"kernel\":\"%s\",", name, short[$(NF - 2)], $5
        printf "\"value\":%s,\"unit\":\"%s\"}\n", value, $(NF - 1)
      }' "$scratch/ncu" >"$scratch/counters"
    cat "$scratch/counters" >>"$out/counters.jsonl"
    if [ ! -s "$scratch/counters" ]; then
      [ $result -ne 0 ] || result=1
      judge $result
      note "$name: $(grep -E '^==(ERROR|WARNING)==' "$scratch/ncu" | head -n 1)"
    fi
  done
}

# ---- The run ----------------------------------------------------------------------------------------------

run_step() {
  local start=$EPOCHSECONDS
  step=$1 status=right what=
  step_end=$((start + limits[$step] * slowness))
  ((step_end < end)) || step_end=$end
  if ((step_end <= start)); then
    status=stopped what="no time left"
  else
    pick_kernels "$(device_field capability)"
    export TENON_STAND_IN_LOG=$out/logs/stand_in.$step.log
    rm -f "$TENON_STAND_IN_LOG"
    "step_$step" >>"$out/logs/$step.log" 2>&1
    [ $status != stopped ] || kill_leftovers
    if grep -qs '^fault:' "$TENON_STAND_IN_LOG"; then
      judge 1
      note "$(grep -c '^fault:' "$TENON_STAND_IN_LOG") faults: $(grep -m 1 '^fault:' "$TENON_STAND_IN_LOG")"
    fi
    # The counts of the step's cases and values.
    local counted
    counted=$(count_lines "$out/$step"*.jsonl)
    what=$counted${counted:+${what:+; }}$what
  fi
  printf '{"step":"%s","status":"%s","seconds":%d,"what":%s}\n' "$step" $status $((EPOCHSECONDS - start)) \
    "$(quoted "$what")" >>"$out/steps.jsonl"
  printf '%-13s %-9s %4d s  %s\n' "$step" $status $((EPOCHSECONDS - start)) "$what"
  pack_results
}

kill_leftovers  # of a run into the same folder that was stopped
if [ -n "$stand_in" ]; then export LD_LIBRARY_PATH=$kit/bin/stand_in${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}; fi
# The choice of kernels needs the device's capability.
if [ $device = cuda ] && [ "$(status_of probe)" != right ] && [ "${steps[0]}" != probe ]; then
  others=()
  for step in "${steps[@]}"; do [ $step = probe ] || others+=("$step"); done
  steps=(probe ${others[@]+"${others[@]}"})
fi

exit_status=0
for step in "${steps[@]}"; do
  case $(status_of "$step") in
    right | wrong) printf '%-13s %-9s         from an earlier run\n' "$step" "$(status_of "$step")" ;;
    *) run_step "$step" ;;
  esac
  case $(status_of "$step") in
    right) ;;
    no_device) exit_status=3; break ;;
    *) exit_status=1 ;;
  esac
done

"$runner" report "$out" >"$out/report.txt" 2>&1
echo
cat "$out/report.txt"
pack_results
exit $exit_status
