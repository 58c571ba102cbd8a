# Checks the times and the trace of one run of vyre-passmgr with default<O3> over GLSL: both are JSON, and their sums are right.
# SPDX-License-Identifier: Apache-2.0
import json
import sys

times = json.load(open(sys.argv[1]))
rows = {row["name"]: row for row in times["passes"]}
assert times["version"] == 1
assert times["wall_ns"] == sum(row["wall_ns"] for row in rows.values())
assert times["cpu_ns"] == sum(row["cpu_ns"] for row in rows.values())
assert times["passed_ns"] >= times["wall_ns"], "one thread"
inside = sum(row["wall_ns"] for name, row in rows.items() if name not in ("(read)", "(glslang)", "(export)", "(write)", "(verify)"))
outer = rows["(fixpoint)"]["total_ns"]
assert inside <= outer <= inside + rows["(verify)"]["wall_ns"], (inside, outer)
assert rows["(read)"]["total_ns"] == rows["(read)"]["wall_ns"] + rows["(glslang)"]["wall_ns"]
assert rows["simplify"]["total_ns"] > rows["simplify"]["wall_ns"], "it was sealed and verified"

trace = json.load(open(sys.argv[2]))["traceEvents"]
lanes = {event["tid"]: event["args"]["name"] for event in trace if event["name"] == "thread_name"}
assert len(lanes) == int(sys.argv[3]) and lanes[1] == "thread 1", lanes
spans = [event for event in trace if event["ph"] == "X"]
whole = next(event for event in spans if event["cat"] == "input")
assert whole["name"].endswith("saxpy.comp")
passes = [event for event in spans if event["cat"] == "pass"]
assert [event["args"]["run"] for event in passes] == sorted(event["args"]["run"] for event in passes)
assert any(event["name"] == "simplify" and event["args"]["changed"] for event in passes)
for event in passes:
    assert whole["ts"] <= event["ts"] and event["ts"] + event["dur"] <= whole["ts"] + whole["dur"] + 0.002
