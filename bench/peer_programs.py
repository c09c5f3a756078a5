"""The peers' programs: where they are, and how they are built."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = {"rust-peer": ("rust-shove", ["--no-default-features"]), "rullst-bench": ("rullst-bench", ["--ignore-rust-version"])}


def target_folder(backend):
    """With another backend the peer has other libraries in it: a folder of its own, unless one is given."""
    default = ROOT / "build/peers" / ("target" if not backend else f"target-{backend}")
    return Path(os.environ.get("CARGO_TARGET_DIR", default))


def knows(program, backend):
    """Whether a rust-peer was built with that backend. A mode that is none: it only looks at the name."""
    done = subprocess.run([str(program), "bench", "--backend", backend, "--mode", "none"], capture_output=True, text=True)
    return "not compiled in" not in done.stderr


def build(name, options, folder, target):
    if not shutil.which("cargo"):
        sys.exit("the peers need cargo (Rust 1.95 or newer) once; it is not here")
    copy = ROOT / "build/peers" / folder  # because cargo writes beside the sources
    shutil.copytree(ROOT / "bench/peers" / folder, copy, dirs_exist_ok=True)
    command = ["cargo", "build", "--release", *options]
    print("+", *command, file=sys.stderr)
    subprocess.run(command, check=True, cwd=copy, env={**os.environ, "CARGO_TARGET_DIR": str(target)})


def find(names, backend=None, may_build=True):
    """The programs of these names, built where they are missing; the Rust peer with that backend in it."""
    found = {}
    for name in names:
        folder, options = PEERS[name]
        special = backend if name == "rust-peer" else None
        target = target_folder(special)
        program = target / "release" / name
        found[name] = program
        if program.exists() and (not special or knows(program, special)):
            continue
        if not may_build:
            sys.exit(f"{name}{' with ' + special if special else ''} is not built; leave out --no-build")
        build(name, [*options, *(["--features", special] if special else [])], folder, target)
    return found
