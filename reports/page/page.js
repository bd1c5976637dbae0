//<![CDATA[
// SPDX-License-Identifier: GPL-3.0-or-later
// The interactive functions of a page: sorts the table, switches between light and dark, lists the contents,
// and unfolds everything for printing.
"use strict";
(function () {
    const root = document.documentElement;

    themeButton(document.getElementById("theme"));
    listContents(document.getElementById("contents"));
    for (const table of document.querySelectorAll("table.sortable"))
        makeSortable(table);
    openForPrint();

    // The reader's choice lasts until the page is closed; the default is that of the system.
    function themeButton(button) {
        const system = window.matchMedia("(prefers-color-scheme: dark)");
        const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
        const name = () => {
            button.textContent = isDark() ? "Light" : "Dark";
            button.setAttribute("aria-label", isDark() ? "Change to light colours" : "Change to dark colours");
        };
        button.addEventListener("click", () => {
            root.dataset.theme = isDark() ? "light" : "dark";
            name();
        });
        system.addEventListener("change", name);
        name();
        button.hidden = false;
    }

    function listContents(nav) {
        const list = document.createElement("ul");
        for (const heading of document.querySelectorAll("main section > h2, main section.chart > h3")) {
            const link = document.createElement("a");
            if (heading.parentElement.id === "charts")
                continue;
            link.href = "#" + heading.parentElement.id;
            link.textContent = heading.textContent;
            list.appendChild(document.createElement("li")).appendChild(link);
        }
        nav.appendChild(list);
        nav.hidden = false;
    }

    function makeSortable(table) {
        const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
        heads.forEach((head, column) => {
            head.querySelector("button").addEventListener("click", () => {
                const isRising = head.getAttribute("aria-sort") !== "ascending";
                for (const other of heads)
                    other.setAttribute("aria-sort", "none");
                head.setAttribute("aria-sort", isRising ? "ascending" : "descending");
                sort(table.tBodies[0], column, isRising);
            });
        });
    }

    // Sorts by the exact figures. Rows without a figure are last in both directions; rows with equal figures
    // keep their order.
    function sort(body, column, isRising) {
        const key = row => row.cells[column].dataset.value;
        const rows = [...body.rows];
        const isNumeric = rows.every(row => key(row) === "" || !Number.isNaN(Number(key(row))));
        rows.sort((one, other) => {
            const a = key(one), b = key(other);
            if (a === "" || b === "")
                return (a === "") - (b === "");
            const order = isNumeric ? Number(a) - Number(b) : a.localeCompare(b);
            return isRising ? order : -order;
        });
        body.append(...rows);
    }

    function openForPrint() {
        let opened = [];
        window.addEventListener("beforeprint", () => {
            opened = [...document.querySelectorAll("details.reading:not([open]), details.fold:not([open])")];
            for (const details of opened)
                details.open = true;
        });
        window.addEventListener("afterprint", () => {
            for (const details of opened)
                details.open = false;
        });
    }
})();
