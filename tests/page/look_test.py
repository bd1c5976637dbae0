# SPDX-License-Identifier: GPL-3.0-or-later
"""Aim: a page fits a phone, and its texts are readable in light and in dark mode. Method: the browser
emulates the phone; the contrast of a text is that of its computed colour with its background, taken from a
screenshot of the page without its texts.
"""
import unittest

from pages import PageTest
from share import part

CONTRAST_LEAST = 4.5

# Each visible text: its colour, its words, and points all over its boxes.
TEXTS = """
const found = [];
const add = (element, what, boxes) => {
    const style = getComputedStyle(element);
    const isDrawn = element.ownerSVGElement !== null && element.ownerSVGElement !== undefined;
    let opacity = 1;
    // What has been scrolled out of sight cannot be judged.
    let room = {left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity};
    for (let at = element; at !== null; at = at.parentElement) {
        opacity *= Number(getComputedStyle(at).opacity);
        const box = at.getBoundingClientRect();
        if (at !== document.documentElement && getComputedStyle(at).overflow !== "visible" && at !== document.body)
            room = {left: Math.max(room.left, box.left), right: Math.min(room.right, box.right),
                    top: Math.max(room.top, box.top), bottom: Math.min(room.bottom, box.bottom)};
    }
    const points = [];
    for (const box of boxes)
        for (const across of [0.1, 0.3, 0.5, 0.7, 0.9])
            for (const down of [0.2, 0.5, 0.8])
                points.push([box.x + across * box.width, box.y + down * box.height]);
    const seen = points.filter(([x, y]) => x > room.left && x < room.right && y > room.top && y < room.bottom)
        .map(([x, y]) => [x + scrollX, y + scrollY]);
    found.push({colour: isDrawn ? style.fill : style.color, opacity, what, points: seen,
                fill: isDrawn ? Number(style.fillOpacity) : 1});
};
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || ["SCRIPT", "STYLE", "NOSCRIPT", "OPTION", "title", "desc"].includes(parent.tagName) ||
        !parent.checkVisibility({visibilityProperty: true, opacityProperty: true}))
        continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter(box => box.width > 1 && box.height > 1 && box.right > 0);
    if (boxes.length > 0)
        add(parent, node.data.trim(), boxes);
}
for (const input of document.querySelectorAll("input:not([type=range]), select"))
    if (input.checkVisibility())
        add(input, input.id, [input.getBoundingClientRect()]);
return found;
"""
# Hides the texts, so that a screenshot shows their background.
HIDE = """
const sheet = new CSSStyleSheet();
sheet.replaceSync("svg text { visibility: hidden !important } * { color: transparent !important }");
document.adoptedStyleSheets = [sheet];
"""
# The colours of the page's ground and of all elements.
COLOURS = """
return {ground: getComputedStyle(document.body).backgroundColor,
        each: [...document.querySelectorAll("body *")].map(element => {
            const style = getComputedStyle(element);
            return [style.color, style.fill, style.stroke, style.backgroundColor, style.borderTopColor].join();
        })};
"""
SHOW = "document.adoptedStyleSheets = [];"
# On an empty page: reads the screenshot's colours at points; takes texts and returns the worst contrasts.
JUDGE = """
const [picture, texts] = arguments;
const image = new Image();
image.src = "data:image/png;base64," + picture;
return image.decode().then(() => {
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext("2d", {willReadFrequently: true});
    context.drawImage(image, 0, 0);
    const pixels = context.getImageData(0, 0, image.width, image.height);
    const linear = part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    const light = colour => 0.2126 * linear(colour[0] / 255) + 0.7152 * linear(colour[1] / 255) +
        0.0722 * linear(colour[2] / 255);
    return texts.map(text => {
        const parts = text.colour.match(/[0-9.]+/g).map(Number);
        const opacity = (parts.length > 3 ? parts[3] : 1) * text.opacity * text.fill;
        const isInside = ([x, y]) => x >= 0 && x < image.width && y >= 0 && y < image.height;
        const contrasts = text.points.filter(isInside).map(([x, y]) => {
            const at = 4 * (Math.floor(y) * image.width + Math.floor(x));
            const behind = pixels.data.slice(at, at + 3);
            const ink = [0, 1, 2].map(i => parts[i] * opacity + behind[i] * (1 - opacity));
            const [low, high] = [light(ink), light(behind)].sort((a, b) => a - b);
            return (high + 0.05) / (low + 0.05);
        }).sort((a, b) => a - b);
        // Lines that pass behind a text are not its ground: half of its points decide.
        return contrasts.length === 0 ? null : contrasts[Math.floor(contrasts.length / 2)];
    });
});
"""


class LookTest(PageTest):
    def test_page_fits_a_phone(self):
        for name in self.names():
            self.browser.size(360, 740, mobile=True)
            self.open(name)
            for width in (360, 412, 768):
                self.browser.size(width, 740, mobile=True)
                self.assertLessEqual(self.browser.run("return document.documentElement.scrollWidth"), width, name)
                wide = self.browser.run("""
                    const own = "body :not(.scroll, .scroll *, figure, figure *, pre, pre *)";
                    return [...document.querySelectorAll(own)].filter(each => {
                        const box = each.getBoundingClientRect();
                        return box.width > 0 && box.right > innerWidth + 1;
                    }).map(each => each.outerHTML.slice(0, 80));""")
                self.assertEqual(wide, [], (name, width))

    def test_window_of_1280_shows_the_whole_table_and_a_phone_its_own_charts(self):
        for name in self.names():
            self.browser.size(1280, 900)
            self.open(name)
            self.browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
            self.assertLessEqual(self.browser.run("const table = document.querySelector('#strategies');"
                                                  "return table.scrollWidth - table.parentElement.clientWidth"),
                                 0, name)
            for width, is_narrow in ((1280, False), (390, True)):
                self.browser.size(width, 844, mobile=is_narrow)
                seen = self.browser.run("""
                    return [...document.querySelectorAll("svg.chart-svg")].filter(svg => svg.checkVisibility())
                        .map(svg => [svg.classList.contains("narrow"),
                                     svg.getBoundingClientRect().width / svg.viewBox.baseVal.width]);""")
                self.assertGreater(len(seen), 5)
                for narrow, scale in seen:
                    self.assertEqual(narrow, is_narrow)
                    self.assertGreater(scale, 0.9)

    def test_page_of_tune_is_not_endless(self):
        self.browser.size(1280, 900)
        self.open("tune")
        self.assertLess(self.browser.run("return document.documentElement.scrollHeight"), 9000)

    def test_texts_have_contrast_in_both_themes(self):
        for name, scheme in part([("stream", "light"), ("stream", "dark"), ("cluster", "light"), ("cluster", "dark"),
                                  ("tune", "dark")]):
            self.browser.prefer(scheme)
            self.open(name)
            self.check_contrast(name, scheme)

    def test_theme_button_overrules_the_system(self):
        self.browser.prefer("dark")
        self.open("stream")
        dark = self.browser.run(COLOURS)
        self.browser.run("document.getElementById('theme').click()")
        light = self.browser.run(COLOURS)
        self.browser.prefer("light")
        self.assertNotEqual(light["ground"], dark["ground"])
        self.assertEqual(self.browser.run(COLOURS)["ground"], light["ground"])
        self.browser.run("document.getElementById('theme').click()")
        self.assertTrue(self.browser.run(COLOURS) == dark, "the button's dark colours are not those of the system")

    def check_contrast(self, name, scheme):
        self.browser.run("for (const each of document.querySelectorAll('details')) each.open = true")
        texts = self.browser.run(TEXTS)
        self.browser.run(HIDE)
        picture = self.browser.shot()
        self.browser.run(SHOW)
        self.browser.open(self.pages.write("empty.html", "<!DOCTYPE html><title>empty</title>"))
        contrasts = self.browser.run(JUDGE, picture, texts)
        judged = [(round(contrast, 2), text["what"], text["colour"])
                  for contrast, text in zip(contrasts, texts) if contrast is not None]
        self.assertGreater(len(judged), 100)
        self.assertEqual([each for each in judged if each[0] < CONTRAST_LEAST], [], (name, scheme))


if __name__ == "__main__":
    unittest.main()
