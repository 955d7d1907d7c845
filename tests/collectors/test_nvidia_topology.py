"""Grids and links of nvidia-smi."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.parts import nvidia as part
from snapshot.collectors.nvidia_topology import parse_grid, parse_nvlink
from snapshot.errors import ParseError

UUID = "GPU-00000000-0000-4000-8000-00000000000a"


def test_a_grid_of_peers_and_one_of_distances() -> None:
    peers, distances = parse_grid(part.peers(range(8))), parse_grid(part.topology(range(8)))
    assert peers.names == distances.names[:8] == [f"GPU{n}" for n in range(8)]
    assert distances.nics["NIC3"] == "rocep162s0f1"
    assert peers.rows[0] == ["X", *["OK"] * 7]
    assert (distances.affinity["GPU7"].nodes, peers.affinity) == ("1", {})


@pytest.mark.parametrize("text", [part.peers([0]), " \tGPU0\t\nGPU0\tX\t\n", "\tGPU0\nGPU0\t X \n"])
def test_one_gpu_is_a_grid_too(text: str) -> None:
    assert (parse_grid(text).names, parse_grid(text).rows) == (["GPU0"], [["X"]])


def test_a_gap_in_the_indexes_stays() -> None:
    assert parse_grid(part.peers([0, 1, 3])).names == ["GPU0", "GPU1", "GPU3"]


def test_a_matrix_is_sorted_by_address() -> None:
    grid = parse_grid("\tGPU0\tGPU1\tNIC0\nGPU0\tX\tSYS\tPIX\nGPU1\tSYS\tX\tNV4\nNIC0\tPIX\tNV4\tX\n")
    matrix = grid.matrix({"GPU0": "0000:c1:00.0", "GPU1": "0000:01:00.0"})
    assert matrix.ids == ["0000:01:00.0", "0000:c1:00.0", "NIC0"]
    assert matrix.cells()["0000:01:00.0", "NIC0"] == "NV4"
    with pytest.raises(ParseError):
        grid.matrix({"GPU0": "0000:c1:00.0", "GPU1": "0000:c1:00.0"})


@pytest.mark.parametrize("text", [
    "", "\0", "\n\n", "ERROR: Option -m is missing its value.", "\tGPU0\tGPU1\nGPU0\tX\tOK\n", "\tGPU0\nGPU1\tX\n",
    "\tGPU0\tGPU1\nGPU0\tX\nGPU1\tOK\tX\n", "\tGPU0\nGPU0\t0x7f\n", "GPU0\tX\n",
    "\tGPU0\tGPU1\nGPU0\tX\t\nGPU1\tOK\tX\n",
])
def test_what_is_no_whole_grid_is_an_error(text: str) -> None:
    with pytest.raises(ParseError):
        parse_grid(text)


def test_links_that_are_up_and_down() -> None:
    text = (f"GPU 0: NVIDIA H200 (UUID: {UUID})\n\t Link 0: 26.562 GB/s\r\n\t Link 1: <inactive>\n\t Link 2: 25 GB/s\n"
            f"GPU 1: NVIDIA L40 (UUID: {UUID[:-1]}b)\n"
            "NVML: Unable to retrieve Nvlink information as all links are inActive\n")
    assert {uuid: link.table() for uuid, link in parse_nvlink(text).items()} == {
        UUID: {"active": "0,2", "inactive": "1", "speeds_gbs": [25.0, 26.562]}}
    with pytest.raises(ParseError):
        parse_nvlink("\t Link 0: 26.562 GB/s\n")


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    for dressed in (text, f"\tGPU0\tGPU1\n{text}", f"GPU 0: x (UUID: {UUID})\n\t Link {text}"):
        for parse in (parse_grid, parse_nvlink):
            try:
                parse(dressed)
            except ParseError:
                continue


def test_grids_of_the_corpus(corpus: Path) -> None:
    grids = {}
    for path in sorted((corpus / "nvidia-smi-topo").iterdir()):
        if path.name.startswith("win-"):
            with pytest.raises(ParseError):
                parse_grid(path.read_text())
        else:
            grids[path.name] = parse_grid(path.read_text())
    l40, v100 = grids["l40x4-node-sys.txt"], grids["v100x2-nv1-phb.txt"]
    assert l40.rows[0] == ["X", "NODE", "SYS", "SYS", "SYS", "SYS"]
    assert [l40.affinity[f"GPU{n}"].nodes for n in range(4)] == ["0", "0", "1", "1"]
    assert (v100.names, v100.rows[0]) == (["GPU0", "GPU1", "mlx5_0"], ["X", "NV1", "PHB"])
    assert v100.affinity["GPU0"].cpus == "0-7"
    big, slurm = grids["sr680a-8gpu-11nic.txt"], grids["nv4-empty-cpu-affinity.txt"]
    assert (len(big.names), big.nics["NIC10"], big.rows[0][8]) == (19, "rocep216s0f0", "PIX")
    assert [slurm.affinity[f"GPU{n}"].cpus for n in range(4)] == ["0", "0", None, None]
    assert grids["puget-wrx90-2xRTX6000Ada.txt"].affinity["GPU1"].table() == {"cpus": "0-23", "nodes": "0"}


def test_links_of_the_corpus(corpus: Path) -> None:
    links = {path.name: parse_nvlink(path.read_text()) for path in sorted((corpus / "nvidia-smi-nvlink").iterdir())}
    a100 = links["gpud-a100-nvlink-status.txt"]
    assert (len(a100), {link.active for link in a100.values()}) == (8, {"0-11"})
    h200 = [link.table() for link in links["h200__590.48.01.txt"].values()]
    assert h200 == [{"active": "0-17", "speeds_gbs": [26.562]}]
    assert all(not found for name, found in links.items() if "rtx" in name or "mig" in name)
