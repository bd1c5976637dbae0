# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of live runs: as a setting for a host of the core, and as a strategy of the lab's twin."""

# Small partitions and short times, so that a run of seconds has many changes.
FIRES = {"bits": 3, "threshold": 25}
COUNT = {"rows": 200}
CACHE_TTL_MS = 200
CLOCK_BOUND_MS = 10
# Operations under way in an agent. A host with half of them accepts no rows for a while; a twin's rows arrive
# anyway.
OPERATIONS = 64

SETTINGS = {
    "single": ("probabilistic", {**FIRES, "coordination": "single"}),
    "locked": (
        "probabilistic",
        {**FIRES, "coordination": "locked", "lock.lasts": "2s", "lock.backoff": "20ms"},
    ),
    "three-state": ("probabilistic", {**FIRES, "coordination": "three-state", "lead": "1500ms"}),
    "three-state-lwt": (
        "probabilistic",
        {**FIRES, "coordination": "three-state", "counter": "lwt", "lead": "1500ms"},
    ),
    "unsafe": ("probabilistic", {**FIRES, "coordination": "three-state", "lead": "20ms"}),
    "guarded": ("probabilistic", {**FIRES, "coordination": "guarded", "grant": "1200ms"}),
    "external": ("count", {**COUNT, "counter": "external"}),
    "counter": ("count", {**COUNT, "counter": "counter"}),
    "lwt": ("count", {**COUNT, "counter": "lwt"}),
    "lease": ("count", {**COUNT, "counter": "lease", "batch": 20}),
    "incremental": ("count", {**COUNT, "counter": "incremental", "every_rows": 50}),
    "scan": ("count", {**COUNT, "counter": "scan", "every_rows": 50}),
    "memory": ("count", {**COUNT, "counter": "memory"}),
}
# The sequential requests until a row is stored, where there are more than one.
REQUESTS = {"counter": 3, "lwt": 2}


SIZES = ("threshold", "rows", "batch", "every_rows")


def settings(name, scale):
    """The protocol's kind and values, with partitions smaller by the factor `scale`."""
    kind, values = SETTINGS[name]
    return kind, {key: value // scale if key in SIZES else value for key, value in values.items()}


def setting_text(name, scale):
    """The text that `bucketlab tune --emit` would write."""
    kind, values = settings(name, scale)
    lines = ["bucketing-setting 1", "scenario_digest = 0000000000000000", f"kind = {kind}"]
    return "\n".join(lines + [f"{key} = {value}" for key, value in values.items()] + ["end", ""])


def strategy_text(name, scale):
    """The same setting as a strategy in a scenario."""
    kind, values = settings(name, scale)
    groups = {}
    for key, value in values.items():
        group, _, member = key.partition(".")
        if member:
            groups.setdefault(group, {})[member] = value
        else:
            groups[key] = value
    text = [
        f"{key}: "
        + (
            "{" + ", ".join(f"{a}: {b}" for a, b in value.items()) + "}"
            if isinstance(value, dict)
            else str(value)
        )
        for key, value in groups.items()
    ]
    return f"  - {kind}: {{{', '.join(text)}, label: live}}\n"


def twin(
    name,
    agents,
    keys,
    rate,
    duration_s,
    latency,
    scale=1,
    nodes=1,
    bound_ms=CLOCK_BOUND_MS,
    client_s=12,
    faults=(),
    seed=1,
    trace=None,
):
    """The lab's scenario of a live run: the same processes, rates, times to live, leads, faults and
    latencies. trace: the rows of the run, as a file next to the scenario."""
    replicas = min(nodes, 3)
    if trace is None:  # the judge takes the rows of the history
        rows = f"duration: {max(1, int(duration_s * 1000))}ms\nkeys: {{count: {keys}}}\n"
        rows += f"arrivals: {{rate: {rate:.3f}/s}}"
    else:
        rows = f"trace: {{file: {trace}, columns: {{time: time, key: key}}}}"
    fault_lines = "".join(f"  - {fault}\n" for fault in faults)
    level = "QUORUM" if replicas > 1 else "ONE"
    return f"""\
name: live-{name}
about: The twin of a live run of {agents} processes.
seed: {seed}
{rows}
row: {{bytes: 100}}
reads: {{latest: {{rows: 20, rate: {rate / 36:.3f}/s}}}}
cluster:
  nodes: {nodes}
  replication_factor: {replicas}
  consistency: {{write: {level}, read: {level}, state: {level}, serial: SERIAL}}
  network: {{latency: {latency}}}
  node: {{concurrency: 32, write: 1us, read: 1us, scan_row: 0us, gc: {{every: 1d, lasts: 1us}}}}
  timeouts: {{client: {client_s}s, detect: 50ms}}
agents:
  count: {agents}
  cache_ttl: {CACHE_TTL_MS}ms
  operations: {OPERATIONS if trace is None else 4096}
  clock: {{offset: {bound_ms / 2:.0f}ms, bound: {bound_ms}ms}}
strategies:
{strategy_text(name, scale)}{'faults:' if fault_lines else ''}
{fault_lines}"""
