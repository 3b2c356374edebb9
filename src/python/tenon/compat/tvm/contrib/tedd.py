"""Graphs of schedules as DOT files, as `tvm.contrib.tedd`."""

from .... import _tenon


def write(text, path, output_dot_string):
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text if output_dot_string else None


def quoted(text):
    return '"' + str(text).replace('"', "'") + '"'


def axis_of(stage, axis):
    return quoted(f"{stage.op.name}.{axis.name}")


def viz_dataflow_graph(sch, show_svg=False, dot_file_path="", output_dot_string=False):
    """Writes the stages and what they read."""
    lines = ["digraph dataflow {", "  node [shape=box];"]
    for stage in sch.stages:
        lines.append(f"  {quoted(stage.op.name)};")
        for tensor in stage.op.inputs:
            lines.append(f"  {quoted(tensor.op.name)} -> {quoted(stage.op.name)};")
    return write("\n".join([*lines, "}\n"]), dot_file_path, output_dot_string)


def viz_schedule_tree(sch, show_svg=False, dot_file_path="", output_dot_string=False):
    """Writes the loops of every stage, outermost first, and where stages are attached."""
    lines = ["digraph schedule {", "  node [shape=box];"]
    for stage in sch.stages:
        name = quoted(stage.op.name)
        previous = name
        for axis in stage.leaf_iter_vars:
            loop = axis_of(stage, axis)
            lines.append(f"  {previous} -> {loop};")
            previous = loop
        fields = _tenon._compat.stage_fields(stage)
        if "attach_ivar" in fields:
            lines.append(f"  {name} -> {quoted(fields['attach_ivar'].name)} [style=dashed];")
    return write("\n".join([*lines, "}\n"]), dot_file_path, output_dot_string)


def viz_itervar_relationship_graph(sch, show_svg=False, dot_file_path="", output_dot_string=False):
    """Writes the relations of axes: the split, fuse or other primitive that made each axis."""
    lines = ["digraph axes {", "  node [shape=box];"]
    for stage in sch.stages:
        for axis in stage.all_iter_vars:
            lines.append(f"  {axis_of(stage, axis)};")
        for kind, parents, children in _tenon._compat.stage_fields(stage)["relations"]:
            for parent in parents:
                for child in children:
                    ends = [axis_of(stage, axis) for axis in (parent, child)]
                    lines.append(f"  {ends[0]} -> {ends[1]} [label={quoted(kind)}];")
    return write("\n".join([*lines, "}\n"]), dot_file_path, output_dot_string)
