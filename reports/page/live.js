// SPDX-License-Identifier: GPL-3.0-or-later
// The interactive section: the user changes bits and threshold, and sees their exact distribution
// (distribution.js) at once. The markup is live.html; the values to start with are attributes of its section,
// which page.c writes. Text from a user is always set as text, never as HTML.
(function () {
    "use strict";
    const distribution = bucketlabDistribution;
    const section = document.getElementById("live");
    if (section === null)
        return;

    const SHARES = [0.001, 0.01, 0.5, 0.99, 0.999];
    const CHANCE_LEAST = 1e-9;
    const CHANCE_NAMES = ["all", "1 in 1,000", "1 in a million", "1 in a billion"];
    const SIZE_MAX = 2 ** 53;
    const SVG = "http://www.w3.org/2000/svg";
    const UNITS = { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12, pb: 1e15, eb: 1e18, kib: 2 ** 10, mib: 2 ** 20,
                    gib: 2 ** 30, tib: 2 ** 40 };
    const thresholds = thresholdLadder();

    const bitsSlider = byId("live-bits");
    const bitsNumber = byId("live-bits-number");
    const thresholdSlider = byId("live-threshold");
    const thresholdNumber = byId("live-threshold-number");
    const start = byId("live-start");
    const chart = document.createElementNS(SVG, "svg");
    const reading = byId("live-reading");
    let frame = null;
    let readAt = null;

    begin();

    function begin() {
        thresholdSlider.max = thresholds.length - 1;
        section.classList.add("live-on");
        for (const id of ["bits-number", "threshold-number", "limit-rows", "limit-bytes", "row-bytes", "tiny", "rate"])
            byId("live-" + id).value = section.getAttribute("data-" + id);
        byId("live-controls").hidden = false;
        chart.setAttribute("id", "live-chart");
        chart.setAttribute("role", "slider");
        chart.setAttribute("tabindex", "0");
        chart.setAttribute("aria-label", "Probabilities of partition sizes, shown at a movable line");
        byId("live-plot").appendChild(chart);
        bitsSlider.addEventListener("input", () => follow(bitsNumber, bitsSlider.value));
        thresholdSlider.addEventListener("input",
                                         () => follow(thresholdNumber, thresholds[thresholdSlider.value]));
        byId("live-controls").addEventListener("submit", (event) => event.preventDefault());
        for (const input of section.querySelectorAll("input:not([type=range])"))
            input.addEventListener("input", update);
        if (start !== null) {
            byId("live-controls").prepend(start.parentElement);
            start.parentElement.hidden = false;
            start.addEventListener("change", startFrom);
        }
        chart.addEventListener("pointermove", pointAt);
        chart.addEventListener("pointerleave", () => readHere(null));
        chart.addEventListener("blur", () => readHere(null));
        chart.addEventListener("keydown", keyAt);
        window.addEventListener("resize", update);
        update();
    }

    function follow(number, value) {
        number.value = value;
        update();
    }

    function startFrom() {
        const setting = start.value.split(" ");
        bitsNumber.value = setting[0];
        thresholdNumber.value = setting[1];
        update();
    }

    function update() {
        const asked = ask();
        const says = byId("live-says");
        if (asked.fault !== null) {
            setText(says, asked.fault);
            return;
        }
        bitsSlider.value = asked.bits;
        bitsSlider.setAttribute("aria-valuetext", asked.bits + " bits: " + oneIn(asked.bits));
        thresholdSlider.value = ladderIndex(asked.threshold);
        thresholdSlider.setAttribute("aria-valuetext", grouped(asked.threshold));
        showFigures(asked);
        setText(says, sentence(asked));
        setText(byId("live-command"), command(asked));
        draw(asked);
    }

    // Returns the values of the fields and their distribution, or the first invalid field.
    function ask() {
        const asked = { fault: null };
        asked.bits = whole(asked, bitsNumber, "Bits", 0, distribution.BITS_MAX);
        asked.threshold = whole(asked, thresholdNumber, "The threshold", 1, distribution.THRESHOLD_MAX);
        asked.tiny = whole(asked, byId("live-tiny"), "Tiny", 0, SIZE_MAX);
        asked.limitRows = whole(asked, byId("live-limit-rows"), "The limit of rows", 0, SIZE_MAX);
        asked.limitBytes = bytes(asked, byId("live-limit-bytes"), "The limit of bytes");
        asked.limitText = byId("live-limit-bytes").value.trim();
        asked.rowBytes = bytes(asked, byId("live-row-bytes"), "A row's size");
        asked.rate = positive(asked, byId("live-rate"), "The rate");
        if (asked.fault === null)
            asked.distribution = distribution.make(asked.bits, asked.threshold);
        asked.hasBytes = asked.limitBytes > 0 && asked.rowBytes > 0;
        asked.bytesAsRows = asked.hasBytes ?
            Math.min(SIZE_MAX, Math.floor(asked.limitBytes / asked.rowBytes)) : 0;
        return asked;
    }

    // An empty field counts as 0 if the field is optional.
    function whole(asked, input, name, least, most) {
        const isNone = input.value === "" && !input.validity.badInput && !input.required;
        const value = isNone ? 0 : input.value === "" ? NaN : Number(input.value);
        return judge(asked, input, Number.isInteger(value) && value >= least && value <= most, value,
                     name + " must be a whole number from " + grouped(least) + " to " + grouped(most) + ".");
    }

    function positive(asked, input, name) {
        const value = input.validity.badInput ? NaN : Number(input.value);
        return judge(asked, input, value >= 0 && value < Infinity, value,
                     name + " must be a number of rows per second.");
    }

    function bytes(asked, input, name) {
        const parts = /^\s*([0-9][0-9,]*(?:\.[0-9]+)?)\s*([KMGTPE]?i?B)\s*$/i.exec(input.value);
        const isNone = input.value.trim() === "";
        const unit = parts === null ? undefined : UNITS[parts[2].toLowerCase()];
        const value = isNone ? 0 : unit === undefined ? NaN : Number(parts[1].replaceAll(",", "")) * unit;
        return judge(asked, input, value >= 0 && value < Infinity, value,
                     name + " must be a size with its unit, for example 350 B or 100 MB.");
    }

    function judge(asked, input, isFine, value, fault) {
        if (isFine)
            input.removeAttribute("aria-invalid");
        else
            input.setAttribute("aria-invalid", "true");
        if (!isFine && asked.fault === null)
            asked.fault = fault;
        return value;
    }

    function showFigures(asked) {
        const chances = asked.distribution;
        const mean = distribution.mean(chances);
        const stddev = distribution.stddev(chances);
        figure("mean", mean, "rows", sized(asked, mean));
        figure("stddev", stddev, "rows", percent(stddev / mean) + " of the mean");
        figure("increments", distribution.incrementsPer1000Rows(chances), "", oneIn(asked.bits) + " adds 1");
        chance("below", asked.tiny, "P(rows < " + grouped(asked.tiny) + ")", distribution.below(chances, asked.tiny));
        chance("above", asked.limitRows, "P(rows > " + grouped(asked.limitRows) + ")",
               distribution.above(chances, asked.limitRows));
        chance("above-bytes", asked.hasBytes ? 1 : 0,
               "P(bytes > " + asked.limitText + "), above " + grouped(asked.bytesAsRows) + " rows",
               asked.hasBytes ? distribution.above(chances, asked.bytesAsRows) : 0);
        for (const share of SHARES) {
            const rows = distribution.quantile(chances, share);
            figure("quantile-" + share, rows, "rows", sized(asked, rows));
        }
        const row = section.querySelector("tr[data-figure=lasts]");
        row.hidden = !(asked.rate > 0);
        if (!row.hidden)
            figure("lasts", mean / asked.rate, "s", duration(mean / asked.rate));
    }

    function figure(name, value, unit, thatIs) {
        const row = section.querySelector("tr[data-figure='" + name + "']");
        const data = row.querySelector("data");
        data.value = String(value);
        const named = unit === "rows" && value === 1 ? "row" : unit;
        setText(data, digits(value) + (named === "" ? "" : " " + named));
        setText(row.querySelector(".live-that-is"), thatIs);
    }

    function chance(name, isAsked, heading, value) {
        const row = section.querySelector("tr[data-figure='" + name + "']");
        row.hidden = !(isAsked > 0);
        setText(row.querySelector("th"), heading);
        figure(name, value, "", value > 0 && value < 1 ? rarity(value) : value === 0 ? "never" : "always");
    }

    function sentence(asked) {
        const mean = distribution.mean(asked.distribution);
        const cv = distribution.stddev(asked.distribution) / mean;
        let text = capital(oneIn(asked.bits)) + " adds 1 to the counter; at " + grouped(asked.threshold) +
            " the key moves to its next bucket. Partitions have ";
        text += (cv === 0 ? "exactly " : "") + grouped(Math.round(mean)) +
            (mean === 1 ? " row" : " rows") + (cv === 0 ? "" : " ± " + percent(cv));
        if (asked.rowBytes > 0)
            text += ", or " + byteText(mean * asked.rowBytes);
        text += ".";
        const passing = [];
        const limitRows = grouped(asked.limitRows) + " rows";
        if (asked.limitRows > 0)
            passing.push(millionth(distribution.above(asked.distribution, asked.limitRows), limitRows));
        if (asked.hasBytes)
            passing.push(millionth(distribution.above(asked.distribution, asked.bytesAsRows), asked.limitText));
        if (passing.length > 0)
            text += " Of 1,000,000 partitions " + passing.join(" and ") + ".";
        if (asked.rate > 0)
            text += " At " + short(asked.rate) + " rows per second a partition is full after " +
                duration(mean / asked.rate) + ".";
        return text;
    }

    function millionth(value, limit) {
        const count = Math.round(value * 1e6);
        if (value === 1)
            return "all exceed " + limit;
        if (count > 0)
            return "about " + grouped(count) + (count === 1 ? " exceeds " : " exceed ") + limit;
        return "none exceeds " + limit + (value >= 1e-15 ? " (" + rarity(value) + ")" : "");
    }

    function command(asked) {
        let text = "bucketlab odds --bits " + asked.bits + " --threshold " + asked.threshold;
        if (asked.tiny > 0)
            text += " --below " + asked.tiny;
        if (asked.limitRows > 0)
            text += " --above " + asked.limitRows;
        if (asked.hasBytes)
            text += " --above " + asked.bytesAsRows;
        return text;
    }

    // Draws the chart: the distribution of partition sizes and, below it, on a log axis, the shares that are
    // larger or smaller than a size.
    function draw(asked) {
        const width = Math.max(280, Math.min(900, byId("live-plot").clientWidth));
        const limits = rules(asked);
        const humpTop = 12 + 14 * limits.length;
        frame = {
            asked: asked, width: width, height: humpTop + 334, left: 84, right: width - 18,
            humpTop: humpTop, humpBottom: humpTop + 94, top: humpTop + 114, bottom: humpTop + 284,
        };
        const low = distribution.quantile(asked.distribution, CHANCE_LEAST);
        const high = distribution.quantile(asked.distribution, 1 - CHANCE_LEAST);
        frame.from = Math.max(0, Math.floor(Math.log10(low / 1.2)));
        frame.to = Math.max(frame.from + 1, Math.ceil(Math.log10(high * 1.3)));
        for (const rule of limits)
            if (rule.isLimit && rule.rows >= 10 ** frame.to && rule.rows < 10 ** (frame.to + 1))
                frame.to++;
        chart.replaceChildren();
        chart.setAttribute("viewBox", "0 0 " + width + " " + frame.height);
        chart.setAttribute("width", width);
        chart.setAttribute("height", frame.height);
        add(chart, "title").textContent = "Sizes of partitions with " + asked.bits + " bits and threshold " +
            grouped(asked.threshold);
        drawClips(limits);
        drawAxes();
        drawCurves();
        limits.forEach(drawRule);
        frame.readingLine = add(chart, "line", { class: "live-line", y1: frame.humpTop, y2: frame.bottom });
        readHere(readAt);
    }

    function rules(asked) {
        const found = [];
        if (asked.tiny > 0)
            found.push({ rows: asked.tiny, text: "tiny: below " + grouped(asked.tiny), isLimit: false });
        if (asked.limitRows > 0)
            found.push({ rows: asked.limitRows, text: "limit " + grouped(asked.limitRows) + " rows",
                         isLimit: true });
        if (asked.hasBytes)
            found.push({ rows: asked.bytesAsRows, text: "limit " + asked.limitText, isLimit: true });
        return found;
    }

    function drawClips(limits) {
        const clips = add(chart, "defs");
        const inside = add(clips, "clipPath", { id: "live-inside" });
        add(inside, "rect", { x: frame.left, y: frame.top - 2, width: frame.right - frame.left,
                              height: frame.bottom - frame.top + 2 });
        const least = Math.min(Infinity, ...limits.filter((rule) => rule.isLimit).map((rule) => rule.rows));
        const beyond = add(clips, "clipPath", { id: "live-beyond" });
        const from = Math.min(frame.right, Math.max(frame.left, xOf(least)));
        add(beyond, "rect", { x: from, y: frame.humpTop, width: frame.right - from,
                              height: frame.humpBottom - frame.humpTop });
        frame.beyondFrom = from;
    }

    function drawAxes() {
        const decades = frame.to - frame.from;
        const perDecade = (frame.right - frame.left) / decades;
        const every = Math.max(1, Math.ceil(46 / perDecade));
        if (frame.beyondFrom < frame.right)
            add(chart, "rect", { class: "live-over-ground", x: frame.beyondFrom,
                                 width: frame.right - frame.beyondFrom,
                                 y: frame.humpTop, height: frame.bottom - frame.humpTop });
        for (let decade = frame.from; decade <= frame.to; decade++) {
            for (let part = 1; part < 10 && (decade < frame.to || part === 1); part++) {
                const x = xOf(part * 10 ** decade);
                const hasName = part === 1 ? (decade - frame.from) % every === 0 :
                    (part === 2 || part === 5) && perDecade > 180;
                if (hasName || perDecade > 60)
                    add(chart, "line", { class: part === 1 ? "live-grid" : "live-grid live-fine",
                                         x1: x, x2: x, y1: frame.humpTop, y2: frame.bottom });
                if (hasName)
                    write(x, frame.bottom + 17, compact(part * 10 ** decade), "middle");
            }
        }
        CHANCE_NAMES.forEach((name, index) => {
            const y = yOf(1000 ** -index);
            add(chart, "line", { class: "live-grid", x1: frame.left, x2: frame.right, y1: y, y2: y });
            write(frame.left - 7, y + 4, name, "end");
        });
        for (const y of [frame.humpBottom, frame.bottom])
            add(chart, "line", { class: "live-axis", x1: frame.left, x2: frame.right, y1: y, y2: y });
        write((frame.left + frame.right) / 2, frame.height - 8, "rows of a partition", "middle");
        write(frame.left - 7, (frame.humpTop + frame.humpBottom) / 2, "frequency", "end");
    }

    function drawCurves() {
        const chances = frame.asked.distribution;
        const heights = [];
        let larger = "";
        let smaller = "";
        for (let x = frame.left; x <= frame.right; x += 1.5) {
            const rows = rowsOf(x);
            heights.push([x, distribution.pmf(chances, Math.floor(rows)) / Math.log1p(1 / Math.floor(rows))]);
            const to = (larger === "" ? "M" : "L") + near(x) + " ";
            larger += to + near(yOf(distribution.above(chances, Math.floor(rows))));
            smaller += to + near(yOf(distribution.below(chances, Math.ceil(rows))));
        }
        const top = Math.max(Number.MIN_VALUE, ...heights.map((point) => point[1]));
        const most = frame.humpBottom - frame.humpTop - 4;
        let hump = "M" + near(frame.left) + " " + frame.humpBottom;
        for (const [x, height] of heights)
            hump += "L" + near(x) + " " + near(frame.humpBottom - height / top * most);
        hump += "L" + near(frame.right) + " " + frame.humpBottom + "Z";
        add(chart, "path", { class: "live-hump", d: hump });
        add(chart, "path", { class: "live-hump live-over", d: hump, "clip-path": "url(#live-beyond)" });
        add(chart, "path", { class: "live-smaller", d: smaller, "clip-path": "url(#live-inside)" });
        add(chart, "path", { class: "live-larger", d: larger, "clip-path": "url(#live-inside)" });
        nameCurve("larger", distribution.quantile(chances, 1 - 1e-5), 9, "start");
        nameCurve("smaller", distribution.quantile(chances, 1e-5), -9, "end");
    }

    function nameCurve(name, rows, aside, anchor) {
        const x = xOf(rows) + aside;
        const room = anchor === "start" ? frame.right - x : x - frame.left;
        if (room > 50)
            write(x, yOf(1e-5) + 4, name, anchor, "live-name");
    }

    function drawRule(rule, index) {
        const isBeyond = rule.rows >= 10 ** frame.to;
        const isBefore = rule.rows < 10 ** frame.from;
        const x = isBeyond ? frame.right : isBefore ? frame.left : xOf(rule.rows);
        const anchor = isBefore ? "start" : x > (frame.left + frame.right) / 2 ? "end" : "start";
        const text = isBeyond ? rule.text + " →" : isBefore ? "← " + rule.text : rule.text;
        const y = 12 + 14 * index;
        if (!isBeyond && !isBefore) {
            add(chart, "line", { class: rule.isLimit ? "live-rule live-limit" : "live-rule",
                                 x1: x, x2: x, y1: y - 8, y2: frame.bottom });
            const value = (rule.isLimit ? distribution.above : distribution.below)(frame.asked.distribution, rule.rows);
            if (value >= CHANCE_LEAST)
                add(chart, "circle", { class: rule.isLimit ? "live-mark live-limit-mark" : "live-mark",
                                       cx: x, cy: yOf(value), r: 4 });
        }
        write(x + (anchor === "end" ? -5 : 5), y, text, anchor, rule.isLimit ? "live-limit-name" : "");
    }

    // Moves the vertical line at which probabilities are shown.
    function pointAt(event) {
        const box = chart.getBoundingClientRect();
        const x = (event.clientX - box.left) * frame.width / box.width;
        readHere(Math.round(rowsOf(Math.min(frame.right, Math.max(frame.left, x)))));
    }

    function keyAt(event) {
        const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
                        PageDown: -10, PageUp: 10 }[event.key];
        const edge = { Home: 10 ** frame.from, End: 10 ** frame.to }[event.key];
        if (steps === undefined && edge === undefined)
            return;
        event.preventDefault();
        const least = 10 ** frame.from;
        const at = readAt === null ? distribution.quantile(frame.asked.distribution, 0.5) : readAt;
        const moved = at * 10 ** (steps * (frame.to - frame.from) / 100);
        const rows = steps > 0 ? Math.max(at + 1, Math.round(moved)) : Math.min(at - 1, Math.round(moved));
        readHere(edge !== undefined ? edge : Math.min(10 ** frame.to, Math.max(least, rows)));
    }

    function readHere(rows) {
        readAt = rows === null ? null : Math.min(10 ** frame.to, Math.max(10 ** frame.from, rows));
        const at = readAt === null ? distribution.quantile(frame.asked.distribution, 0.5) : readAt;
        const text = "At " + grouped(at) + (at === 1 ? " row" : " rows") +
            (frame.asked.rowBytes > 0 ? " (" + byteText(at * frame.asked.rowBytes) + ")" : "") + ": " +
            share(distribution.above(frame.asked.distribution, at)) + " of the partitions are larger, " +
            share(distribution.below(frame.asked.distribution, at)) + " smaller.";
        chart.setAttribute("aria-valuemin", 10 ** frame.from);
        chart.setAttribute("aria-valuemax", 10 ** frame.to);
        chart.setAttribute("aria-valuenow", at);
        chart.setAttribute("aria-valuetext", text);
        setText(reading, readAt !== null ? text :
            "Point at the chart, or focus it and press ← or →, to read its values.");
        const x = readAt === null ? -10 : xOf(readAt);
        frame.readingLine.setAttribute("x1", x);
        frame.readingLine.setAttribute("x2", x);
    }

    function xOf(rows) {
        const share = (Math.log10(rows) - frame.from) / (frame.to - frame.from);
        return frame.left + share * (frame.right - frame.left);
    }

    function rowsOf(x) {
        const share = (x - frame.left) / (frame.right - frame.left);
        return 10 ** (frame.from + share * (frame.to - frame.from));
    }

    function yOf(value) {
        const depth = Math.min(12, -Math.log10(Math.max(value, 1e-300)));
        return frame.top + depth / 9 * (frame.bottom - frame.top);
    }

    function write(x, y, text, anchor, kind) {
        const attributes = { x: near(x), y: near(y), "text-anchor": anchor, class: kind || "" };
        add(chart, "text", attributes).textContent = text;
    }

    function add(parent, name, attributes) {
        const element = parent.appendChild(document.createElementNS(SVG, name));
        for (const key in attributes || {})
            element.setAttribute(key, attributes[key]);
        return element;
    }

    function near(value) {
        return Math.round(value * 100) / 100;
    }

    // Formats values as words and numbers.
    function oneIn(bits) {
        return bits === 0 ? "every row" : "one row in " + grouped(2 ** bits);
    }

    function sized(asked, rows) {
        return asked.rowBytes > 0 ? byteText(rows * asked.rowBytes) : "";
    }

    function rarity(value) {
        if (value < 1e-15)
            return "less than one in 10¹⁵";
        return value > 0.1 ? percent(value) : "one in " + short(1 / value);
    }

    function share(value) {
        return value === 0 ? "none" : value === 1 ? "all" : value < 1e-4 ? rarity(value) : percent(value);
    }

    // Formats whole numbers that are exact in a double with all digits, and other values rounded.
    function digits(value) {
        if (Number.isInteger(value) && Math.abs(value) <= SIZE_MAX)
            return grouped(value);
        if (value >= 1e6)
            return value < 1e15 ? grouped(Math.round(value)) : value.toPrecision(6);
        return value < 1e-4 ? value.toExponential(5) : String(Number(value.toPrecision(6)));
    }

    function grouped(value) {
        return value >= 1e21 ? String(value) : value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
    }

    function three(value) {
        return Number(value.toPrecision(3));
    }

    function short(value) {
        if (value >= 1e15 || value < 1e-4 && value > 0)
            return value.toExponential(2).replace("e+", "e");
        return value >= 1000 ? grouped(three(value)) : String(three(value));
    }

    // A share below 1 must not be rounded to 100 %.
    function percent(value) {
        return (value < 1 && value >= 0.9995 ? "more than 99.9" : short(value * 100)) + " %";
    }

    function compact(value) {
        return scaled(value, ["", "K", "M", "G", "T", "P", "E"], "");
    }

    function byteText(value) {
        return scaled(value, ["B", "KB", "MB", "GB", "TB", "PB", "EB"], " ");
    }

    function scaled(value, names, gap) {
        let index = 0;
        while (three(value) >= 1000 && index < names.length - 1) {
            value /= 1000;
            index++;
        }
        return short(value) + gap + names[index];
    }

    function duration(seconds) {
        for (const [name, length] of [["years", 31557600], ["days", 86400], ["h", 3600], ["min", 60]])
            if (seconds >= 2 * length)
                return short(seconds / length) + " " + name;
        return seconds >= 1 ? short(seconds) + " s" : short(seconds * 1000) + " ms";
    }

    function capital(text) {
        return text.charAt(0).toUpperCase() + text.slice(1);
    }

    // The thresholds of the slider: all up to 100, then those with two significant digits, and the greatest.
    function thresholdLadder() {
        const steps = [];
        for (let step = 1; step <= 10000; step *= 10)
            for (let i = step === 1 ? 1 : 11; i <= 100; i++)
                steps.push(i * step);
        return steps;
    }

    function ladderIndex(threshold) {
        let index = thresholds.length - 1;
        while (thresholds[index] > threshold)
            index--;
        return index;
    }

    function setText(element, text) {
        if (element.textContent !== text)
            element.textContent = text;
    }

    function byId(id) {
        return document.getElementById(id);
    }
})();
//]]>
