"""Words that a picture has room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def shortened(text: str, room: int) -> str:
    """TEXT in at most ROOM characters, the middle left out."""
    if len(text) <= room:
        return text
    return f"{text[: room // 2]}…{text[len(text) - (room - 1) // 2:]}"


def workloads(found: Sequence[Mapping[str, str]], room: int) -> list[str]:
    """Each workload in at most ROOM characters, what tells them apart first."""
    keys = sorted({key for workload in found for key in workload})
    telling = [key for key in keys if len({workload.get(key) for workload in found}) > 1]
    order = [*telling, *(key for key in keys if key not in telling)]
    texts = (", ".join(f"{key} {workload[key]}" for key in order if key in workload) for workload in found)
    return [text if len(text) <= room else f"{text[: room - 1]}…" for text in texts]
