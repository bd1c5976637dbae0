# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: keyboard and screen reader reach everything, in the order of the page, and everything has a name.
Method: Tab is pressed from the top to the end; headings and names come from the page and from Chromium's own
accessibility tree.
"""
import unittest

from pages import PageTest

# All elements that take the focus, in the page's order.
FOCUSABLE = """
window.stops = [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
    .filter(each => !each.disabled && each.checkVisibility({visibilityProperty: true}));
return window.stops.map(each => each.id || each.className.baseVal || each.className || each.textContent.slice(0, 40));
"""
# From now on, at each move of the focus: its index among those elements, and whether the focus is visible.
WATCH = """
document.activeElement.blur();
getSelection().removeAllRanges();
scrollTo(0, 0);
window.seen = [];
document.addEventListener("focusin", () => {
    const at = document.activeElement, style = getComputedStyle(at);
    window.seen.push([window.stops.indexOf(at), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1]);
});
"""
SEEN = "return window.seen.splice(0);"
NAMED = {"link", "button", "slider", "spinbutton", "textbox", "combobox", "image", "img", "graphics-document",
         "graphics-object", "graphics-symbol", "table", "region", "figure", "heading", "navigation", "group"}
NAMELESS = {"table", "group", "figure"}  # These roles need no name.


class ReachTest(PageTest):
    def test_tab_reaches_everything_in_order(self):
        for name in self.each_page():
            stops = self.browser.run(FOCUSABLE)
            self.assertGreater(len(stops), 25)
            self.browser.run(WATCH)
            self.browser.tab(len(stops))
            self.assertEqual([[*seen, stops[seen[0]]] for seen in self.browser.run(SEEN)],
                             [[index, True, stop] for index, stop in enumerate(stops)], name)
            # And back again, past the last three.
            self.browser.tab(3, shift=True)
            self.assertEqual([index for index, _ in self.browser.run(SEEN)],
                             [*range(len(stops) - 2, len(stops) - 5, -1)], name)

    def test_used_controls_take_the_focus(self):
        for name in self.each_page():
            self.browser.run("for (const fold of document.querySelectorAll('details.fold')) fold.open = true")
            self.browser.run(FOCUSABLE)
            reached = self.browser.run("""
                const within = what => [...document.querySelectorAll(what)].map(each => window.stops.includes(each));
                return {theme: within("#theme"), heads: within("#strategies thead tr:last-child th button"),
                        charts: within("svg.chart-svg:not(.narrow)"),
                        corner: within("#live input, #live select, #live svg")};""")
            for what, found in reached.items():
                self.assertTrue(found and all(found), (name, what, found))

    def test_headings_are_in_order(self):
        for name in self.each_page():
            levels = self.browser.run("return [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]"
                                      ".map(each => Number(each.tagName[1]))")
            self.assertEqual((levels[0], levels.count(1)), (1, 1), name)
            self.assertTrue(all(next_ <= level + 1 for level, next_ in zip(levels, levels[1:])), levels)
            self.assertEqual(self.browser.run("return [...document.querySelectorAll('main section')].filter(each => "
                                              "!document.getElementById(each.getAttribute('aria-labelledby')))"
                                              ".map(each => each.id)"), [])

    def test_every_element_has_an_accessible_name(self):
        for name in self.each_page():
            self.browser.devtools("Accessibility.enable")
            nodes = self.browser.devtools("Accessibility.getFullAXTree")["nodes"]
            self.browser.devtools("Accessibility.disable")
            met = set()
            for node in nodes:
                role = node.get("role", {}).get("value")
                if node["ignored"] or role not in NAMED - NAMELESS:
                    continue
                met.add(role)
                self.assertTrue(node["name"].get("value", "").strip(), (name, role, node.get("properties")))
            self.assertTrue({"link", "button", "slider", "spinbutton", "textbox", "heading"} <= met, met)

    def test_no_two_controls_have_the_same_name(self):
        for name in self.each_page():
            self.browser.run("for (const fold of document.querySelectorAll('details')) fold.open = true")
            names = self.browser.run("return [...document.querySelectorAll('#comparison button, #charts summary')]"
                                     ".map(each => each.getAttribute('aria-label') || each.textContent)")
            self.assertGreater(len(names), 15)
            self.assertEqual([each for each in names if names.count(each) > 1], ["strategy"] * names.count("strategy"))

    def test_on_a_phone_each_strategy_is_a_card_with_all_its_figures(self):
        self.browser.size(390, 1200)
        for name in self.each_page():
            rows = self.browser.run("""
                return [...document.querySelectorAll("#strategies tbody tr")].map(row => [...row.cells].map(cell =>
                    [cell.getBoundingClientRect().right, cell.getBoundingClientRect().height,
                     cell.dataset.name ? getComputedStyle(cell, "::before").content : "-"]));""")
            self.assertGreater(len(rows), 1)
            for cells in rows:
                self.assertGreater(len(cells), 5)
                for right, height, title in cells:
                    self.assertTrue(0 < right <= 390 and height > 0 and title not in ("none", ""), (name, cells))

    def test_ids_are_unique_and_references_lead_somewhere(self):
        for name in self.each_page():
            twice, lost = self.browser.run("""
                const ids = [...document.querySelectorAll("[id]")].map(each => each.id);
                const lost = [];
                for (const key of ["for", "aria-labelledby", "aria-describedby", "aria-controls", "href"])
                    for (const each of document.querySelectorAll(`[${key}]`))
                        for (const id of each.getAttribute(key).split(" "))
                            if (!id.startsWith("data:text/csv;") && !document.getElementById(id.replace(/^#/, "")))
                                lost.push(id);
                return [ids.filter((id, i) => ids.indexOf(id) !== i), lost];""")
            self.assertEqual((twice, lost), ([], []), name)

    def test_what_changes_is_reported(self):
        self.open("stream")
        self.assertEqual(self.browser.run("return document.getElementById('live-says').getAttribute('aria-live')"),
                         "polite")
        label = "return document.getElementById('theme').getAttribute('aria-label')"
        before = self.browser.run(label)
        self.browser.run("document.getElementById('theme').click()")
        self.assertNotEqual(self.browser.run(label), before)


if __name__ == "__main__":
    unittest.main()
