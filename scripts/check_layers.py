#!/usr/bin/env python3
"""Checks every #include against the table of rooms in src/README.md, and which rooms read the environment.

A room may include the public headers of the rooms that the table lists for it, its own private headers, and
its foreign libraries. Some rooms have ordered sub-rooms: a file there includes only its own sub-room and
those below it. A public header belongs to the sub-room that has the source of its name. A room's tests may
also include its private headers and all rooms that the room depends on; other tests and the tutorials may
include every public header.
"""

import pathlib
import re

import sources

# room: (rooms that it may use besides support, foreign headers that only this room includes)
ROOMS = {
    "support": ((), ()),
    "tir": ((), ()),
    "interp": (("tir",), ()),
    "arith": (("interp", "tir"), ()),
    "te": (("arith", "interp", "tir"), ()),
    "s_tir": (("arith", "tir"), ()),
    "lower": (("arith", "interp", "tir"), ()),
    "codegen": (("tir", "runtime"), ()),
    "codegen/lowering": (("codegen", "tir"), ()),
    "codegen/llvm": (("codegen", "codegen/lowering", "tir", "runtime"), ("llvm/", "llvm-c/", "lld/")),
    "codegen/c_like": (("codegen", "codegen/lowering", "tir", "runtime"), ()),
    "topi": (("te", "arith", "tir"), ()),
    "runtime": ((), ("tbb/", "oneapi/tbb", "boost/crc")),
    "driver": (
        ("te", "s_tir", "arith", "interp", "tir", "lower", "codegen", "codegen/llvm", "codegen/c_like",
         "topi", "runtime"),
        (),
    ),
    "inspect": (
        ("te", "s_tir", "arith", "interp", "tir", "lower", "codegen", "driver", "runtime"),
        (),
    ),
    "tune": (("s_tir", "arith", "interp", "tir", "lower", "codegen", "codegen/llvm", "driver", "runtime"), ("xgboost/", "boost/mpi")),
    "tooling": (("*",), ("boost/program_options",)),
    "python": (("*",), ("nanobind/", "Python.h")),
}
# room: its sub-rooms, lowest first; files outside any sub-room are above all of them
SUB_ROOMS = {
    "te": ("operations", "relations", "schedule", "graph", "bounds", "loops", "intrinsics"),
}
# room: a header of a higher room that it may include. The constant folder of tir calls the semantics of
# scalars, so that folding and interpreting agree; that header uses only the names of tir's operators.
HEADERS_FROM_ABOVE = {"tir": pathlib.PurePath("include/tenon/interp/scalar.h")}
# public headers without a source of the same name
SUB_ROOM_OF_HEADER = {
    "include/tenon/te/axis_map.h": "relations",
    "include/tenon/te/operation_kind.h": "operations",
    "include/tenon/te/stage_data.h": "schedule",
    "include/tenon/te/relation.h": "relations",
    "include/tenon/te/graph.h": "graph",
    "include/tenon/te/analysis.h": "bounds",
}

FOREIGN = {prefix: room for room, (_, prefixes) in ROOMS.items() for prefix in prefixes}
FOREIGN_ELSEWHERE = {  # foreign headers of several rooms, or that code outside the rooms includes
    "boost/graph/": ("inspect",),
    "nlohmann/": ("s_tir", "driver", "inspect", "tune", "tests"),
    "gtest/": ("tests",),
    "boost/program_options": ("tooling", "tutorials", "tests"),
    "Eigen/": ("tests",),
    "oneapi/dnnl/": ("tests",),
    "cblas.h": ("tests", "tutorials"),
}
SYSTEM_FOLDERS = ("sys/", "linux/", "bits/")
READS_ENVIRONMENT = ("driver", "tooling", "runtime")
# files that pass the environment to the programs that they start
HANDS_ENVIRONMENT_ON = (pathlib.PurePath("src/codegen/process.cpp"),
                        pathlib.PurePath("src/tune/measure/measure.cpp"))
# files that read the variables that an MPI launcher sets
READS_LAUNCHER = (pathlib.PurePath("src/tune/fleet/ranks.cpp"),)

UMBRELLA = pathlib.PurePath("include/tenon/tenon.h")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ENVIRONMENT = re.compile(r"\b(secure_)?getenv\s*\(|\benviron\b")


def room_of_folder(parts):
    """The room that contains the path (its parts below src/ or include/tenon/); None if absent."""
    for length in (2, 1):
        name = "/".join(parts[:length])
        if len(parts) > length and name in ROOMS:
            return name
    return None


def place(path):
    """(room, kind) of a file: kind is public, private, test, or, outside the rooms, the top folder's name."""
    top, *rest = path.parts
    if path.parts[:2] == ("include", "tenon"):
        return room_of_folder(path.parts[2:]), "public"
    if top == "src":
        return room_of_folder(rest), "private"
    if top == "runtime":
        return "runtime", "private"
    if top == "tests":
        return room_of_folder("/".join(rest).replace("codegen_", "codegen/", 1).split("/")), "test"
    return None, top


def height(path, room):
    """The position of the file's sub-room in the room's order, and the sub-room's name; the top comes last."""
    order = SUB_ROOMS[room]
    if path.parts[0] == "include":
        name = SUB_ROOM_OF_HEADER.get(path.as_posix())
        sources_of_name = (sources.ROOT / "src" / room).glob(f"*/{path.stem}.cpp")
        name = name or next((source.parent.name for source in sources_of_name), None)
    else:
        name = path.relative_to(f"src/{room}").parts[0]
    return (order.index(name), name) if name in order else (len(order), f"the top of {room}")


def check_sub_rooms(path, target, room):
    if room not in SUB_ROOMS or path.parts[0] == "tests":
        return None
    (place_of_path, name), (place_of_target, target_name) = height(path, room), height(target, room)
    if place_of_target > place_of_path:
        return f"{target} is of {target_name}, which stands above {name}"
    return None


def closure(room):
    """The room and all rooms that it depends on, directly or not."""
    seen, pending = set(), [room]
    while pending:
        current = pending.pop()
        if current not in seen:
            seen.add(current)
            uses = ROOMS if "*" in ROOMS[current][0] else ("support", *ROOMS[current][0])
            pending.extend(uses)
    return seen


def resolve(path, quoted, name):
    """The file of ours that the include names, relative to the root; None for a foreign header."""
    bases = ["include", "src", ".", "src/python"]
    if quoted:
        bases.insert(0, path.parent)
    for base in bases:
        candidate = (sources.ROOT / base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(sources.ROOT):
            return candidate.relative_to(sources.ROOT)
    return None


def check_ours(path, target):
    room, kind = place(path)
    target_room, target_kind = place(target)
    if target_room is None:  # the umbrella header, or helpers beside the tests and tutorials
        if target == UMBRELLA:
            return None if room in (None, "tooling") else "a room does not include the umbrella header"
        return None if kind == target_kind else f"{kind} does not include helpers of {target_kind}"
    if target_kind != "public" and room != target_room:
        return f"{target} is private to {target_room}"
    if kind == "public" and target_kind != "public":
        return "a public header includes public headers only"
    if room == target_room and room in SUB_ROOMS:
        return check_sub_rooms(path, target, room)
    if room is None or room == target_room or target == HEADERS_FROM_ABOVE.get(room):
        return None
    allowed = closure(room) if kind == "test" else {"support", *ROOMS[room][0]}
    if kind == "test" and "tir" in allowed:  # tests compare with the interpreter
        allowed = allowed | {"interp"}
    if "*" in allowed or target_room in allowed:
        return None
    return f"{room} may not use {target_room} (it may use {', '.join(sorted(allowed))})"


def check_foreign(path, quoted, name):
    room, kind = place(path)
    here = {room, "tests" if kind == "test" else kind}
    for prefix, places in FOREIGN_ELSEWHERE.items():
        if name.startswith(prefix):
            if not here & set(places):
                return f"<{name}> belongs in {' and '.join(places)} only"
            return f"<{name}> in a public header: others would see it too" if kind == "public" else None
    for prefix, owner in FOREIGN.items():
        if name.startswith(prefix):
            if room != owner or kind == "test":
                return f"<{name}> belongs in {owner} only"
            return f"<{name}> in a public header: others would see it too" if kind == "public" else None
    if name.endswith(".inc") or name == "tenon_test_paths.h":  # made by the build
        return None
    if quoted or name.startswith("tenon/"):
        return f"no such header: {name}"
    if "/" in name and not name.startswith(SYSTEM_FOLDERS):
        return f"<{name}> is a foreign library that no room is granted"
    return None


def main():
    problems = []
    for path in sources.files(".h", ".cpp"):
        room, kind = place(path)
        if room is None and kind in ("public", "private") and path != UMBRELLA:
            problems.append(f"{path}: lies in no room")
            continue
        folder = path.parts[2] if kind == "private" and len(path.parts) > 3 else None
        if room in SUB_ROOMS and folder and folder not in SUB_ROOMS[room]:
            problems.append(f"{path}: {folder} is not a sub-room of {room}")
        for number, line in enumerate(sources.text(path).splitlines(), 1):
            match = INCLUDE.match(line)
            if match:
                quoted, name = match[1] == '"', match[2]
                ours = resolve(path, quoted, name)
                problem = check_ours(path, ours) if ours else check_foreign(path, quoted, name)
                if problem:
                    problems.append(f"{path}:{number}: {problem}")
            elif (kind != "test" and room not in READS_ENVIRONMENT
                  and path not in HANDS_ENVIRONMENT_ON + READS_LAUNCHER
                  and ENVIRONMENT.search(line.split("//")[0])):
                owners = " and ".join(READS_ENVIRONMENT)
                problems.append(f"{path}:{number}: only {owners} read the environment")
    sources.report("check_layers", problems)


if __name__ == "__main__":
    main()
