# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a page requests nothing from the network, logs no warnings, does not take labels as markup, and is
readable without scripts. Method: the browser's own logs; labels that would open a dialog or add an element.
"""
import unittest

from pages import LABELS, NAMES, PageTest
from share import SHARE


class SafeTest(PageTest):
    def use(self):
        """Uses everything interactive: theme, table, sliders, marks, folded sections, another width."""
        self.browser.run("""
            for (const button of document.querySelectorAll("button"))
                button.click();
            for (const details of document.querySelectorAll("details"))
                details.open = !details.open;
            for (const input of document.querySelectorAll("#live input")) {
                input.stepUp === undefined || input.type === "text" || input.stepUp();
                input.dispatchEvent(new Event("input", {bubbles: true}));
            }
            const marks = [...document.querySelectorAll("svg, svg *")];
            for (const mark of marks.filter((_, index) => index % arguments[0] === 0))
                for (const kind of ["pointerover", "pointermove", "pointerout"])
                    mark.dispatchEvent(new PointerEvent(kind, {bubbles: true, clientX: 200, clientY: 200}));
            for (const kind of ["beforeprint", "afterprint"])
                window.dispatchEvent(new Event(kind));""", SHARE)
        self.browser.size(500, 900)
        self.browser.wait("return new Promise(done => requestAnimationFrame(() => done(true)))")

    def test_page_has_no_errors_and_requests_nothing(self):
        for name in self.each_page():
            address = self.browser.run("return location.href")
            self.use()
            self.assertEqual(self.browser.complaints(), [])
            self.assertEqual(self.browser.requests(), [address])
            self.browser.size(1100, 900)

    def test_content_policy_blocks_external_content(self):
        """The policy is effective: a script, a style and an image from outside are refused."""
        self.open("stream")
        self.browser.run("""
            const script = document.createElement("script");
            script.textContent = "window.breach = 1";
            document.body.append(script);
            const image = document.createElement("img");
            image.src = "https://127.0.0.1:9/x.png";
            document.body.append(image);
            document.body.setAttribute("style", "color: red");
            window.reach = 0;
            fetch("https://127.0.0.1:9/").catch(() => { window.reach = 1; });""")
        self.assertTrue(self.browser.wait("return window.reach === 1"))
        self.assertIsNone(self.browser.run("return window.breach || null"))
        refused = "\n".join(each for each in self.browser.complaints() if "Content Security Policy" in each)
        for what in ("inline script", "inline style", "x.png", "Connecting to"):
            self.assertIn(what, refused)

    def test_labels_stay_text(self):
        self.open("stream")
        scripts, images, bold = self.browser.run(
            "return ['script', 'img', 'b, i'].map(what => document.querySelectorAll(what).length)")
        self.assertEqual((scripts, images, bold), (1, 0, 0))
        self.assertEqual(self.browser.run("return document.querySelector('h1').textContent"),
                         "stream <b>&amp; 'all'")
        self.assertEqual(self.browser.run("return document.title.startsWith(\"stream <b>&amp; 'all'\")"), True)
        self.assertIn("<i>one</i> of them", self.browser.run("return document.querySelector('header').textContent"))
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('#strategies tbody .label')]"
                                          ".map(label => label.textContent)"), LABELS)
        # An open dialog would have ended the calls above with an error.
        self.use()
        self.assertEqual(self.browser.run("return document.querySelectorAll('script, img').length"), 1)

    def test_page_without_scripts_is_read(self):
        for run, name in enumerate(NAMES, 1):
            self.browser.scripts(False)
            try:
                self.open(name)
                text = self.browser.evaluate("document.body.innerText")
                shown = self.browser.evaluate(
                    "[...document.querySelectorAll('#theme, #contents, #live-controls, .verdict, #strategies, "
                    "#live noscript, #chart-sizes-rows svg, #run-digest')]"
                    ".filter(each => each.checkVisibility()).map(each => each.id || each.className || each.tagName)")
            finally:
                self.browser.scripts(True)
            (digest,), = self.pages.rows("SELECT digest FROM run WHERE run = ?", run)
            self.assertIn(digest, text)
            self.assertIn("enable scripts for this page", text)
            for gone in ("theme", "contents", "live-controls"):
                self.assertNotIn(gone, shown)
            for part in ("verdict", "strategies", "NOSCRIPT", "run-digest"):
                self.assertIn(part, shown)


if __name__ == "__main__":
    unittest.main()
