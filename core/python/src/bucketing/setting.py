# SPDX-License-Identifier: MIT
"""Settings as text, in the format of `bucketlab tune --emit FILE`: setting.h."""
import dataclasses

from ._core import ffi, lib
from ._structs import BucketingError, check, new, read
from .agent import AgentConfig
from .enums import Coordination, Counter, Plan, Source
from .strategy import Strategy


class SettingError(BucketingError):
    """BK_ERROR_SETTING: the wrong `line`, counted from 1 (0: no single line), and the reason."""

    def __init__(self, line: int, text: str) -> None:
        super().__init__("BK_ERROR_SETTING", text)
        self.line = line


@dataclasses.dataclass(slots=True)
class Setting:
    """A strategy, with the settings of its agents and readers. Settings that do not apply are 0."""

    strategy: Strategy = dataclasses.field(default_factory=Strategy)
    coordination: Coordination = Coordination.SINGLE
    counter: Counter = Counter.RMW
    source: Source = Source.EXTERNAL
    lease_rows: int = 0
    every_rows: int = 0
    every_ns: int = 0
    lead_ns: int = 0
    lock_lasts_ns: int = 0
    lock_backoff_ns: int = 0
    grant_ns: int = 0
    read_plan: Plan = Plan.DEFAULT
    read_at_once: int = 0
    read_remember_empty: bool = False
    read_late_ns: int = 0
    scenario_digest: int = 0

    @classmethod
    def parse(cls, text: str | bytes) -> "Setting":
        data = text.encode() if isinstance(text, str) else text
        out, error = ffi.new("struct bk_setting *"), ffi.new("struct bk_setting_error *")
        status = lib.bk_strategy_parse(data, len(data), out, error)
        if status == lib.BK_ERROR_SETTING:
            raise SettingError(error.line, ffi.string(error.text).decode(errors="replace"))
        check(status)
        return read(cls, out)

    def print(self) -> str:
        buffer, length = ffi.new("char[]", lib.BK_SETTING_TEXT_SIZE), ffi.new("size_t *")
        check(lib.bk_strategy_print(new("bk_setting", self), buffer, len(buffer), length))
        return bytes(ffi.buffer(buffer, length[0])).decode()

    def agent_config(self) -> AgentConfig:
        """The config of an agent. The host still has to set agent_id, clock_bound_ns and the cache."""
        config = lib.bk_setting_agent_config(new("bk_setting", self))
        return read(AgentConfig, ffi.new("struct bk_agent_config *", config))
