# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: on paper no chart is cut, either by the end of a page or at its right edge, and the table has all its
columns. Method: a mark is put into two corners of each chart and next to each column's name; the page is
printed to PDF, and pdftotext gives the sheet and the position of each mark.
"""
import os
import re
import shutil
import subprocess
import unittest

from pages import PageTest
from share import part

# Two small words in each chart replace its marks, which do not affect the layout and take seconds to print.
MARK = """
for (const fold of document.querySelectorAll("details.fold"))
    fold.open = true;
const pictures = [...document.querySelectorAll("svg[viewBox]")].filter(each => each.checkVisibility());
pictures.forEach((picture, index) => {
    const box = picture.viewBox.baseVal;
    picture.replaceChildren();
    for (const [name, x, y, anchor] of [["first", box.x, box.y + 5, "start"],
                                        ["last", box.x + box.width, box.y + box.height, "end"]]) {
        const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        text.textContent = `${name}${index}mark`;
        for (const [key, value] of Object.entries({x, y, "text-anchor": anchor, "font-size": 4}))
            text.setAttribute(key, value);
        picture.append(text);
    }
});
return pictures.map(picture => picture.viewBox.baseVal.height / picture.viewBox.baseVal.width);
"""
MARK_COLUMNS = """
const heads = document.querySelectorAll("#strategies thead tr:last-child button");
heads.forEach((head, index) => { head.textContent = `head${index}mark`; });
return heads.length;
"""
WORD = re.compile(r'<word xMin="([0-9.-]+)" yMin="([0-9.-]+)" xMax="([0-9.-]+)" yMax="([0-9.-]+)">(.*?)</word>')
SHEET = re.compile(r'<page width="([0-9.]+)" height="([0-9.]+)">(.*?)</page>', re.DOTALL)


@unittest.skipUnless(shutil.which("pdftotext"), "no pdftotext: apt-get install poppler-utils")
class PrintTest(PageTest):
    def printed(self, **settings):
        """The width, height and words of each sheet, with the words' boxes."""
        path = os.path.join(self.pages.folder, "page.pdf")
        self.browser.pdf(path, **settings)
        told = subprocess.run(["pdftotext", "-bbox", path, "-"], capture_output=True, check=True).stdout.decode()
        return [(float(width), float(height), [(word, tuple(float(edge) for edge in edges))
                                               for *edges, word in WORD.findall(content)])
                for width, height, content in SHEET.findall(told)]

    def test_no_chart_or_column_is_cut_off(self):
        upright, on_its_side = {"paperWidth": 8.27, "paperHeight": 11.69}, {"landscape": True}
        for name, paper in part([("stream", upright), ("stream", on_its_side), ("cluster", on_its_side),
                                 ("tune", upright)]):
            self.open(name)
            shapes = self.browser.run(MARK)
            self.assertGreater(len(shapes), 3)
            columns = self.browser.run(MARK_COLUMNS)
            sheets = self.printed(**paper)
            self.check_pictures(name, sheets, shapes)
            self.check_columns(name, sheets, columns)

    def check_pictures(self, name, sheets, shapes):
        places = {word: (number, box, sheet) for number, sheet in enumerate(sheets) for word, box in sheet[2]}
        for index, shape in enumerate(shapes):
            of = (name, index)
            self.assertIn(f"first{index}mark", places, of)
            self.assertIn(f"last{index}mark", places, of)
            first_sheet, first, (width, height, _) = places[f"first{index}mark"]
            last_sheet, last, _ = places[f"last{index}mark"]
            self.assertEqual(first_sheet, last_sheet, of)
            self.assertTrue(0 <= first[0] < last[2] <= width and 0 <= first[1] < last[3] <= height,
                            (of, first, last, width, height))
            self.assertAlmostEqual((last[3] - first[1]) / (last[2] - first[0]), shape, delta=0.1 * shape + 0.02, msg=of)

    def check_columns(self, name, sheets, count):
        found = {}
        for width, _, words in sheets:
            for word, box in words:
                if re.fullmatch(r"head\d+mark", word):
                    found[word] = 0 <= box[0] and box[2] <= width
        self.assertEqual(found, {f"head{index}mark": True for index in range(count)}, name)

    def test_printed_page_is_white_in_dark_mode(self):
        self.browser.prefer("dark", "print")
        self.open("stream")
        self.assertEqual(self.browser.run("return getComputedStyle(document.body).backgroundColor"),
                         "rgb(255, 255, 255)")


if __name__ == "__main__":
    unittest.main()
