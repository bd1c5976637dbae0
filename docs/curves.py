# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws lines over a setting as a PNG: the charts of findings.md and performance.md. In: a title and texts, two
axes, and the points of each line with the ends of their bars. Out: SVG, from which librsvg's rsvg-convert makes the
file.

An axis is "LABEL | UNIT | SCALE". Units: plain (1K, 1M), rows (the same, and the axis says so), seconds (written in
ms, s, min, h or d) and share (in %). Scales: linear or log. On a log axis 0 has a grey strip, in which each line has
its own lane, so that lines at 0 do not hide one another."""
import math
import subprocess
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, HEIGHT, STRIP, LANE = 800, 70, 776, 300, 24, 7
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B65490", "#E69F00", "#56B4E9", "#111111", "#8C6D1F", "#8A8A8A")
TIMES = [(86400, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]
ROUND_TIMES = [10.0 ** k for k in range(-9, 2)] + [60, 600, 3600, 36000] + [86400 * 10.0 ** k for k in range(3)]


def text_of(value, unit):
    """Formats a number of an axis: 20K, 2 min, 0.5%."""
    if unit == "seconds" and value != 0:
        size, name = next(((size, name) for size, name in TIMES if abs(value) >= 0.999 * size), TIMES[-1])
        return f"{value / size:.4g} {name}"
    if unit == "share":
        return f"{100 * value:.4g}%"
    power = next((power for power in (9, 6, 3) if abs(value) >= 10 ** power), 0)
    return f"{value / 10 ** power:.4g}{ {0: '', 3: 'K', 6: 'M', 9: 'G'}[power] }"


class Axis:
    """Maps values to positions between two ends of the page, 0 of a log axis to the middle of its strip."""

    def __init__(self, told, values, near, far, strip):
        self.title, self.unit, scale = (part.strip() for part in told.split("|"))
        self.is_log = scale == "log"
        self.near, self.far, self.strip = near, far, 0
        positive = [value for value in values if value > 0]
        if self.is_log and len(positive) < len(values):
            self.strip = strip
        if self.is_log:
            self.low = math.log10(min(positive, default=1))
            self.high = math.log10(max(positive, default=10))
            rounds = [math.log10(value) for value in self.rounds()]
            self.low = max((at for at in rounds if at <= self.low + 1e-9), default=self.low)
            self.high = min((at for at in rounds if at >= self.high - 1e-9 and at > self.low), default=self.high)
        else:
            least, most = min(0, *values), max(0, *values)
            room = 0.04 * (most - least)
            self.low, self.high = least - room * (least < 0), most + room
        self.title += " (log scale)" if self.is_log else " (rows)" if self.unit == "rows" else ""

    def rounds(self):
        return ROUND_TIMES if self.unit == "seconds" else [10.0 ** k for k in range(-18, 19)]

    def at(self, value, lane=0.5):
        """The position; lane: from 0 to 1 in the strip."""
        side = 1 if self.far > self.near else -1
        if self.strip and value <= 0:
            return self.near + side * self.strip * lane
        low = self.near + side * (self.strip + 7 if self.strip else 0)
        value = math.log10(value) if self.is_log else value
        return low + (value - self.low) / (self.high - self.low) * (self.far - low)

    def numbers(self):
        """The values with a number, and those with a stroke only."""
        if not self.is_log:
            step = 10.0 ** math.floor(math.log10((self.high - self.low) / 5))
            step *= next(by for by in (1, 2, 5, 10) if (self.high - self.low) / (by * step) <= 7)
            return [i * step for i in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)], []
        shown = [value for value in self.rounds() if self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9]
        within = [digit * value for value in shown for digit in range(2, 10)
                  if self.unit != "seconds" and math.log10(digit * value) < self.high]
        if self.high - self.low <= 2.2:
            fine = [value for value in within if f"{value:e}"[0] in "25"]
            return sorted(shown + fine), [value for value in within if value not in fine]
        return shown, within


class Page:
    """Collects the elements of an SVG."""

    def __init__(self):
        self.parts = []

    def text(self, x, y, text, size=9.5, anchor="start", more='fill="#555555"'):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {more}>'
                          f"{escape(text)}</text>")

    def path(self, points, colour, stroke=1.0, more=""):
        way = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{way}" fill="none" stroke="{colour}" stroke-width="{stroke}" {more}/>')

    def box(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>')

    def marker(self, x, y, index):
        """A disc, square, triangle or diamond, of which the second four and the ninth are hollow."""
        size, kind = 3, index % 4
        corners = [None, ((-1, -1), (1, -1), (1, 1), (-1, 1)), ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
                   ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0))][kind]
        fill, stroke = (COLOURS[index], "white") if index < 4 else ("white", COLOURS[index])
        look = f'fill="{fill}" stroke="{stroke}" stroke-width="{0.8 if index < 4 else 1.4}"'
        if corners is None:
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" {look}/>')
        else:
            way = " ".join(f"{x + size * dx:.1f},{y + size * dy:.1f}" for dx, dy in corners)
            self.parts.append(f'<polygon points="{way}" {look}/>')


def put_key(page, labels, y):
    """Writes the names of the lines, as many as fit on a line of the page; returns the y below."""
    x = 24.0
    for index, label in enumerate(labels):
        width = 30 + 6.2 * len(label)
        if x > 24 and x + width > WIDTH - 16:
            x, y = 24.0, y + 16
        page.path([(x, y), (x + 18, y)], COLOURS[index], 1.8)
        page.marker(x + 9, y, index)
        page.text(x + 24, y + 3.5, label, 10, more='fill="#1A1A1A"')
        x += width + 12
    return y + 20


def put_axes(page, across, up):
    top, bottom = up.far, up.near
    if up.strip:
        page.box(LEFT, bottom - up.strip, RIGHT - LEFT, up.strip, "#F0F0F0")
        page.text(LEFT - 6, up.at(0) + 3.5, "0", anchor="end")
    if across.strip:
        page.box(LEFT, top, across.strip, bottom - top, "#F0F0F0")
        page.text(across.at(0), bottom + 14, "0", anchor="middle")
    for value in up.numbers()[0]:
        page.path([(LEFT, up.at(value)), (RIGHT, up.at(value))], "#E2E2E2")
        page.text(LEFT - 6, up.at(value) + 3.5, text_of(value, up.unit), anchor="end")
    for value in across.numbers()[0]:
        page.path([(across.at(value), bottom), (across.at(value), bottom + 4)], "#777777")
        page.text(across.at(value), bottom + 14, text_of(value, across.unit), anchor="middle")
    for value in up.numbers()[1]:
        page.path([(LEFT - 2, up.at(value)), (LEFT, up.at(value))], "#777777")
    for value in across.numbers()[1]:
        page.path([(across.at(value), bottom), (across.at(value), bottom + 2)], "#777777")
    page.path([(LEFT, top), (LEFT, bottom), (RIGHT, bottom)], "#777777")
    page.text((LEFT + RIGHT) / 2, bottom + 28, across.title, anchor="middle")


def put_line(page, curve, index, lane, across, up):
    """A line is dotted where it enters or leaves a strip, since the distance there has no meaning."""
    places = [(across.at(x), up.at(y, lane)) for x, y, _, _ in curve]
    for (x, _, low, high), (at, _) in zip(curve, places):
        ends = [up.at(low, lane), up.at(high, lane)]
        if low < high:
            page.path([(at, ends[0]), (at, ends[1])], COLOURS[index])
            for end in ends:
                page.path([(at - 2.5, end), (at + 2.5, end)], COLOURS[index])
    for i in range(1, len(places)):
        leaves = any(axis.strip and (curve[i - 1][which] <= 0) != (curve[i][which] <= 0)
                     for axis, which in ((across, 0), (up, 1)))
        page.path(places[i - 1:i + 1], COLOURS[index], 1.2 if leaves else 1.8,
                  'stroke-dasharray="1 4"' if leaves else 'stroke-linecap="round"')
    for x, y in places:
        page.marker(x, y, index)


def draw(path, head, series, rules=()):
    """Writes the PNG. head: title, subtitle, foot, x and y, the last two as above; series: (label, points), each
    point (x, y, low, high); rules: (x, label) of vertical lines."""
    series = [(label, sorted(points)) for label, points in series if points]
    flat = [point for _, points in series for point in points]
    page = Page()
    page.text(24, 36, head["title"], 17, more='font-weight="bold" fill="#1A1A1A"')
    page.text(24, 54, head["subtitle"], 11.5)
    top = put_key(page, [label for label, _ in series], 74)
    names = top + 12 + 14 * len(rules)
    at_zero = [label for label, points in series if any(low <= 0 for _, _, low, _ in points)]
    strip = max(16, 4 + LANE * len(at_zero))
    up = Axis(head["y"], [value for _, *values in flat for value in values], names + HEIGHT, names, strip)
    across = Axis(head["x"], [x for x, *_ in flat] + [x for x, _ in rules], LEFT, RIGHT, STRIP)
    page.text(24, top, up.title)
    put_axes(page, across, up)
    for row, (x, label) in enumerate(sorted(rules)):
        is_left = across.at(x) > (LEFT + RIGHT) / 2
        page.path([(across.at(x), top + 6 + 14 * row), (across.at(x), up.near)], "#1A1A1A", 1, 'stroke-dasharray="3 2"')
        page.text(across.at(x) + (-4 if is_left else 4), top + 14 + 14 * row, label, 9.5,
                  "end" if is_left else "start", 'font-style="italic" fill="#1A1A1A"')
    for index, (label, points) in enumerate(series):
        lane = (at_zero.index(label) + 0.5) / len(at_zero) if label in at_zero else 0.5
        put_line(page, points, index, 1 - lane, across, up)
    page.text(24, up.near + 48, head.get("foot", ""), 9)
    height = up.near + 62
    svg = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="DejaVu Sans">'
           f'<rect width="100%" height="100%" fill="white"/>{"".join(page.parts)}</svg>')
    subprocess.run(["rsvg-convert", "--zoom", "2", "--output", path], input=svg.encode(), check=True)
