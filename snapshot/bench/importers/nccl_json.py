"""What nccl-tests writes with ``-J FILE``: one object a run.

Its ``env`` is the whole environment, secrets included, and is not looked at. Without MPI only the first device is in
the list. A bandwidth that is not known is the text "nan".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...regexes import regex
from ..merging import address
from ..report import within
from .entries import Entry
from .nccl_run import Row, Run
from .printed import one_line

_PROGRAM = regex(r"(?:.*/)?(\w+?)_perf(?:\.\w+)?")


def run(one: Entry) -> Run:
    """The run of an object. ReportError for one without config or results, and for values that are none."""
    config, results = one.entry("config"), one.entries("results")
    devices = config.entries("devices") if "devices" in config.table else []
    hosts = {name for device in devices if (name := device.text("hostname"))}
    addresses = [address(device.text("device_hex") or "") for device in devices]
    bounds, errors = one.entry("out_of_bounds"), one.table.get("errors")
    said = [str(error) for error in errors if error] if isinstance(errors, list) else []
    options = _options(config)
    return Run(
        collective=_collective(one), options=options, sizes=_sizes(config), hosts=len(hosts) or 1,
        cpu_time=any("cpu_time" in row.entry("out_of_place").table for row in results),
        ranks=max(len(devices), _whole(config, "nthreads") * _whole(config, "ngpus")),
        gpus=[name for device in devices if (name := device.text("device_info"))],
        addresses=addresses if len(hosts) < 2 and all(addresses) else [],
        rows=[row for result in results for row in _rows(result)],
        average=one.entry("average_bus_bandwidth").text("bandwidth"), why=one_line(said[0]) if said else None,
        failed=f"{bounds.text('count')} values out of bounds" if bounds.text("okay") == "false" else None)


def _collective(one: Entry) -> str:
    """The name of the program, which is the collective's."""
    args = one.table.get("args")
    found = _PROGRAM.fullmatch(args[0]) if isinstance(args, list) and args and isinstance(args[0], str) else None
    return found[1] if found else "not named"


def _options(config: Entry) -> dict[str, str]:
    """What makes runs different, where it is not what it is by default."""
    told = {"agg_iters": (config.text("aggregated_iterations"), "1"), "graph": (config.text("graph"), "0"),
            "blocking": ("yes" if config.text("blocking_collectives") == "true" else None, None),
            "threads": (config.text("nthreads"), None), "gpus_per_thread": (config.text("ngpus"), None)}
    return {key: value for key, (value, default) in told.items() if value and value != default}


def _sizes(config: Entry) -> str:
    factor = config.text("step_factor")
    step = f"times {factor}" if factor else f"plus {config.text('step_bytes')}"
    return f"{config.text('minimum_bytes')} to {config.text('maximum_bytes')}, {step}"


def _rows(result: Entry) -> Iterator[Row]:
    size = _whole(result, "size")
    for in_place, key in enumerate(("out_of_place", "in_place")):
        told = result.entry(key)
        time = told.text("time") or told.text("cpu_time")
        if not time:
            continue
        yield Row(size=size, type=result.text("type") or "", redop=result.text("redop"),
                  root=result.text("root"), in_place=bool(in_place), time=time, busbw=told.text("bus_bw") or "",
                  wrong=told.number("nwrong"), times=within(result.entry(f"{key}_per_iter").numbers("times_us")))


def _whole(one: Entry, key: str) -> int:
    """The number under KEY. ReportError for anything that is not 0 or more."""
    found = re.fullmatch(r"[0-9]{1,19}", one.text(key) or "")
    return int(found[0]) if found else one.bad(key, "is no whole number")
