// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the hint of a chart's mark, with its exact values, when the user points at it, touches it or moves to
// it with the arrow keys. The hint is the attribute data-hint; it is always shown as text, never as HTML.
"use strict";
(function () {
    const SPACE = "http://www.w3.org/2000/svg";
    // A mark is selected if the pointer is within its reach, in units of the picture. If marks are placed
    // along an axis (data-snap), the mark above or below the pointer is selected: vertical distances count
    // little.
    const SNAPS = {
        bars: { across: 24, reach: 40, height: 0.1 },
        lines: { across: 40, reach: 90, height: 0.3 },
        spots: { across: 24, reach: 24, height: 1 },
    };
    const GAP = 14, EDGE = 8;

    const tip = document.createElement("div");
    const said = document.createElement("div");
    const how = document.createElement("div");
    let shown = null; // the chart and the index of its mark

    tip.className = "chart-tip";
    tip.hidden = true;
    said.className = how.className = "chart-said";
    said.setAttribute("aria-live", "polite");
    how.id = "chart-keys";
    how.textContent = "Arrow keys move from mark to mark, Home and End move to the first and the last mark, Escape leaves the chart.";
    document.body.append(tip, said, how);
    for (const picture of document.querySelectorAll("svg.chart-svg"))
        enliven(picture);
    // Touching another place, or scrolling the page, hides the hint.
    document.addEventListener("pointerdown", event => {
        if (shown && !shown.chart.picture.contains(event.target))
            hide();
    });
    document.addEventListener("scroll", follow, { passive: true, capture: true });
    window.addEventListener("resize", hide);
    document.addEventListener("keydown", event => {
        if (event.key === "Escape")
            hide();
    });

    function enliven(picture) {
        const marks = picture.querySelectorAll("[data-hint]");
        if (marks.length === 0)
            return;
        const chart = { picture, marks, boxes: null, snap: SNAPS[picture.dataset.snap || "spots"], halo: outline("chart-here-halo"), here: outline("chart-here") };
        name(picture);
        picture.addEventListener("pointermove", event => point(chart, event));
        picture.addEventListener("pointerdown", event => point(chart, event));
        picture.addEventListener("pointerleave", event => event.pointerType === "mouse" && hide());
        picture.addEventListener("keydown", event => walk(chart, event));
        picture.addEventListener("focus", () => picture.matches(":focus-visible") && show(chart, at(chart), null));
        picture.addEventListener("blur", () => shown && shown.chart === chart && shown.byKeys && hide());
    }

    // The title is removed, because the browser would show it as a tooltip over the hint. The role
    // `application` makes screen readers pass on the keys.
    function name(picture) {
        const title = picture.querySelector("title");
        const about = picture.querySelector("desc");
        picture.setAttribute("aria-label", title.textContent);
        picture.removeAttribute("aria-labelledby");
        picture.setAttribute("aria-describedby", (about ? about.id + " " : "") + how.id);
        picture.setAttribute("role", "application");
        picture.setAttribute("aria-roledescription", "chart");
        picture.setAttribute("tabindex", "0");
        title.remove();
    }

    function outline(style) {
        const shape = document.createElementNS(SPACE, "rect");
        shape.setAttribute("class", style);
        return shape;
    }

    // Computed on demand, because a page has many charts.
    function boxesOf(chart) {
        if (!chart.boxes)
            chart.boxes = [...chart.marks].map(mark => mark.getBBox());
        return chart.boxes;
    }

    function point(chart, event) {
        const matrix = chart.picture.getScreenCTM();
        if (!matrix)
            return;
        const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
        const index = nearest(chart, place.x, place.y);
        if (index < 0)
            hide();
        else
            show(chart, index, event);
    }

    // After scrolling, another mark may be below the pointer, or none.
    function follow() {
        if (shown && shown.byKeys)
            place();
        else if (shown && shown.chart.picture.contains(document.elementFromPoint(shown.x, shown.y)))
            point(shown.chart, { clientX: shown.x, clientY: shown.y });
        else
            hide();
    }

    // Returns the nearest mark within reach; of equally near ones the last, which is on top; -1 if there is
    // none.
    function nearest(chart, x, y) {
        const boxes = boxesOf(chart), snap = chart.snap;
        let best = -1, least = snap.reach;
        for (let i = 0; i < boxes.length; i++) {
            const box = boxes[i];
            const dx = Math.max(box.x - x, 0, x - box.x - box.width);
            const dy = Math.max(box.y - y, 0, y - box.y - box.height);
            const distance = Math.hypot(dx, snap.height * dy);
            if (dx <= snap.across && distance <= least) {
                least = distance;
                best = i;
            }
        }
        return best;
    }

    function at(chart) {
        return shown && shown.chart === chart ? shown.index : 0;
    }

    function walk(chart, event) {
        const last = chart.marks.length - 1, from = at(chart);
        const isHere = shown !== null && shown.chart === chart;
        let to;
        switch (event.key) {
        case "ArrowRight": to = isHere ? Math.min(from + 1, last) : 0; break;
        case "ArrowLeft": to = isHere ? Math.max(from - 1, 0) : last; break;
        case "ArrowDown": to = isHere ? beyond(chart, from, 1) : 0; break;
        case "ArrowUp": to = isHere ? beyond(chart, from, -1) : last; break;
        case "Home": to = 0; break;
        case "End": to = last; break;
        default: return;
        }
        if (event.altKey || event.ctrlKey || event.metaKey)
            return;
        event.preventDefault();
        show(chart, to, null);
    }

    // Returns the next mark below (way 1) or above (-1), preferably in a straight line; the same mark if
    // there is none.
    function beyond(chart, from, way) {
        const boxes = boxesOf(chart), x = middle(boxes[from]).x, y = middle(boxes[from]).y;
        let best = from, least = Infinity;
        for (let i = 0; i < boxes.length; i++) {
            const other = middle(boxes[i]), dy = way * (other.y - y);
            const distance = dy + 3 * Math.abs(other.x - x);
            if (dy > 0.5 && distance < least) {
                least = distance;
                best = i;
            }
        }
        return best;
    }

    function middle(box) {
        return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    }

    // Shows the hint next to the pointer of the event. If the event is null, the keyboard was used, and
    // screen readers read the hint out.
    function show(chart, index, event) {
        if (!shown || shown.chart !== chart || shown.index !== index) {
            hide();
            tip.textContent = chart.marks[index].dataset.hint;
            surround(chart, boxesOf(chart)[index]);
        }
        shown = { chart, index, byKeys: event === null, x: event && event.clientX, y: event && event.clientY };
        tip.hidden = false;
        if (event === null) {
            said.textContent = tip.textContent;
            reveal(chart, index);
        }
        place();
    }

    function surround(chart, box) {
        for (const shape of [chart.halo, chart.here]) {
            const room = box.width === 0 && box.height === 0 ? 6 : 1.5;
            shape.setAttribute("x", box.x - room);
            shape.setAttribute("y", box.y - room);
            shape.setAttribute("width", box.width + 2 * room);
            shape.setAttribute("height", box.height + 2 * room);
            shape.setAttribute("rx", box.width === 0 && box.height === 0 ? room : 2);
            chart.picture.append(shape);
        }
    }

    // Scrolls a wide picture within its frame, and a long one within the page, until the mark is visible.
    function reveal(chart, index) {
        const frame = chart.picture.parentElement, box = chart.here.getBoundingClientRect();
        const room = frame.getBoundingClientRect();
        if (box.left < room.left || box.right > room.right)
            frame.scrollLeft += (box.left + box.right) / 2 - (room.left + room.right) / 2;
        if (box.top < 0 || box.bottom > document.documentElement.clientHeight)
            window.scrollBy(0, (box.top + box.bottom) / 2 - document.documentElement.clientHeight / 2);
    }

    // Places the hint next to the pointer, or below the mark, and always within the window.
    function place() {
        const width = document.documentElement.clientWidth, height = document.documentElement.clientHeight;
        const mark = shown.chart.here.getBoundingClientRect();
        const x = shown.byKeys ? (mark.left + mark.right) / 2 : shown.x;
        const y = shown.byKeys ? mark.bottom : shown.y;
        tip.style.left = tip.style.top = "0";
        const size = tip.getBoundingClientRect();
        const beside = x + GAP + size.width + EDGE <= width ? x + GAP : x - GAP - size.width;
        const left = shown.byKeys ? x - size.width / 2 : beside;
        const above = (shown.byKeys ? mark.top : y) - GAP - size.height;
        const top = y + GAP + size.height + EDGE <= height ? y + GAP : above;
        tip.style.left = Math.max(EDGE, Math.min(left, width - size.width - EDGE)) + "px";
        tip.style.top = Math.max(EDGE, Math.min(top, height - size.height - EDGE)) + "px";
    }

    function hide() {
        if (!shown)
            return;
        shown.chart.halo.remove();
        shown.chart.here.remove();
        tip.hidden = true;
        said.textContent = "";
        shown = null;
    }
})();
