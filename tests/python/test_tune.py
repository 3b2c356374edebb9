"""Tuning from Python."""

import os
import signal
import subprocess
import sys
import textwrap
import time

PROGRAM = """
    import sys
    import tenon
    from tenon import te, tune

    A = te.placeholder((512, 512), "A")
    B = te.compute((512, 512), lambda i, j: A[i, j] + 1, name="B")
    mod = tenon.tir.IRModule({"main": te.create_prim_func([A, B])})

    def space(sch):
        i, j = sch.get_loops(sch.get_block("B"))
        sch.split(i, sch.sample_perfect_tile(i, n=4, max_innermost_factor=512))
        sch.split(j, sch.sample_perfect_tile(j, n=4, max_innermost_factor=512))

    def tuned(trials):
        return tune.tune_tir(mod, "llvm -num-cores=1", space=space, max_trials_global=trials,
                             num_trials_per_iter=8, work_dir=sys.argv[1], log=lambda level, line: None,
                             measure=tune.MeasureOptions(min_repeat_ms=0, repeat=1))

    try:
        tuned(10 ** 6)
    except KeyboardInterrupt:
        database = tune.Database(sys.argv[1])
        records = database.records(mod)
        print(len(records), database.damaged_lines)
        print([r.measurement.reason for r in records if not r.measurement.is_valid])
        resumed = tuned(len(records) + 4)
        print(len(resumed.records(mod)) - len(records))
"""


def test_ctrl_c_raises_keyboard_interrupt_and_keeps_the_database(tmp_path):
    # The program ends only because of the signal: its trials would take hours.
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(PROGRAM), tmp_path], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    lines = tmp_path / "database_tuning_record.json"
    while process.poll() is None and (not lines.exists() or lines.read_text().count("\n") < 3):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    stopped, failures, resumed = out.splitlines()
    kept, damaged = map(int, stopped.split())
    assert kept >= 3 and damaged == 0
    assert (failures, resumed) == ("[]", "4")
    assert lines.read_text().count("\n") == kept + 4
