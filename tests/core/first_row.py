#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""From `git clone` to a row in its bucket, in a fresh project of each language that is here: first_row.py [LANGUAGE...]

Each project has nothing but a clone of this repository, and routes the same row. Prints the minutes of each. Exits with
1 if a project fails, and with 77 if there is no language at all.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUCKET = "20454"  # days since 1970
AMALGAMATE = [sys.executable, "bucketlab/core/amalgamate.py", "."]
C_FLAGS = ["-O2", "-ffp-contract=off"]

C = """#include "bucketing.h"
#include <stdio.h>
int main(void)
{
    struct bk_strategy strategy;
    struct bk_placement place;
    const struct bk_row row = {.time_ns = INT64_C(1767225600000000000)};
    if (bk_strategy_calendar(BK_CALENDAR_DAY, &strategy) != BK_OK ||
        bk_route(&strategy, NULL, &row, &place) != BK_OK)
        return 1;
    return printf("%lld\\n", (long long)place.bucket) < 0;
}
"""
CPP = """#include "bucketing.h"
#include <iostream>
int main()
{
    bk_strategy strategy;
    bk_placement place;
    bk_row row{};
    row.time_ns = 1767225600000000000;
    if (bk_strategy_calendar(BK_CALENDAR_DAY, &strategy) != BK_OK ||
        bk_route(&strategy, nullptr, &row, &place) != BK_OK)
        return 1;
    std::cout << place.bucket << std::endl;
}
"""
RUST = """use std::ffi::c_void;
#[repr(C)]
#[derive(Default)]
struct Row { time_ns: i64, sequence: u64, id: u64, bytes: u64 }
#[repr(C)]
#[derive(Default)]
struct Placement { bucket: i64, scope: u32, begins: bool, from_ns: i64, until_ns: i64, low: u64, high: u64 }
#[link(name = "bucketing", kind = "static")]
extern "C" {
    fn bk_strategy_calendar(unit: u32, out: *mut c_void) -> u32;
    fn bk_route(strategy: *const c_void, state: *const c_void, row: *const Row, out: *mut Placement) -> u32;
}
fn main() {
    let mut strategy = [0u64; 6];
    let (row, mut place) = (Row { time_ns: 1767225600000000000, ..Row::default() }, Placement::default());
    let at = strategy.as_mut_ptr() as *mut c_void;
    let status = unsafe { bk_strategy_calendar(2, at) + bk_route(at, std::ptr::null(), &row, &mut place) };
    assert_eq!(status, 0);
    println!("{}", place.bucket);
}
"""
PYTHON = """import bucketing
day = bucketing.Strategy.calendar(bucketing.Calendar.DAY)
print(day.route(bucketing.KeyState(), bucketing.Row(1767225600000000000)).bucket)
"""
GO = """package main

import (
	"fmt"

	"bucketlab.dev/bucketing"
)

func main() {
	day := bucketing.Strategy{Kind: bucketing.Time, Calendar: bucketing.Day}
	place, err := day.Route(&bucketing.KeyState{}, &bucketing.Row{TimeNs: 1767225600000000000})
	if err != nil {
		panic(err)
	}
	fmt.Println(place.Bucket)
}
"""
GO_MOD = """module row

go 1.21

require bucketlab.dev/bucketing v1.0.0

replace bucketlab.dev/bucketing => ./bucketlab/core/go
"""
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(row C)
include(FetchContent)
FetchContent_Declare(bucketlab SOURCE_DIR ${CMAKE_SOURCE_DIR}/bucketlab SOURCE_SUBDIR core)
FetchContent_MakeAvailable(bucketlab)
add_executable(row row.c)
target_link_libraries(row bucketlab::bucketing)
"""
LIBRARY = [AMALGAMATE, ["cc", *C_FLAGS, "-c", "bucketing.c"], ["ar", "rcs", "libbucketing.a", "bucketing.o"]]
# Language -> what must be here, the project's files, and its commands; the last one prints the bucket.
PROJECTS = {
    "C": ("cc", {"row.c": C}, [AMALGAMATE, ["cc", *C_FLAGS, "row.c", "bucketing.c", "-o", "row"], ["./row"]]),
    "CMake": ("cmake", {"row.c": C.replace("bucketing.h", "bucketing/bucketing.h"), "CMakeLists.txt": CMAKE}, [
        ["cmake", "-S", ".", "-B", "built"], ["cmake", "--build", "built", "--target", "row"], ["built/row"]]),
    "C++": ("c++", {"row.cpp": CPP}, [*LIBRARY, ["c++", "row.cpp", "-L.", "-lbucketing", "-o", "row"], ["./row"]]),
    "Rust": ("rustc", {"row.rs": RUST}, [*LIBRARY, ["rustc", "-L.", "row.rs"], ["./row"]]),
    "Python": ("python3", {"row.py": PYTHON}, [
        [sys.executable, "-m", "venv", "--system-site-packages", "here"],
        ["here/bin/pip", "install", "-q", "./bucketlab/core/python"],
        ["here/bin/python", "row.py"]]),
    "Go": ("go", {"row.go": GO, "go.mod": GO_MOD}, [["go", "run", "row.go"]]),
}


def route(language, folder):
    """Returns the minutes that it took, or why it failed."""
    _, files, commands = PROJECTS[language]
    begun = time.monotonic()
    for command in [["git", "clone", "-q", "--depth", "1", f"file://{ROOT}", "bucketlab"], *commands]:
        done = subprocess.run(command, cwd=folder, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            return f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        if command[0] == "git":
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
    if done.stdout.strip() != BUCKET:
        return f"the row is in bucket {done.stdout.strip()}, not {BUCKET}"
    return (time.monotonic() - begun) / 60


def main():
    here = [language for language in sys.argv[1:] or PROJECTS if shutil.which(PROJECTS[language][0])]
    failed = False
    for language in here:
        with tempfile.TemporaryDirectory() as folder:
            took = route(language, pathlib.Path(folder))
        failed |= isinstance(took, str)
        print(f"{language}: {took}" if isinstance(took, str) else f"{language}: {took:.1f} minutes", flush=True)
    sys.exit(1 if failed else 0 if here else 77)


main()
