"""How far each text of a page stands out from what is behind it, as WCAG 2 computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEXTS = """() => {
  const read = (text) => {
    const numbers = text.match(/[-\\d.e]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    const [red, green, blue, alpha] = numbers;
    return [red * scale, green * scale, blue * scale, alpha ?? 1];
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (text === "" || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    if (!element.checkVisibility({ opacityProperty: true })) continue;
    const style = getComputedStyle(element);
    const layers = [];
    let opacity = 1;
    for (let each = element; each; each = each.parentElement) {
      layers.push(read(getComputedStyle(each).backgroundColor));
      opacity *= Number(getComputedStyle(each).opacity);
    }
    const isSvg = element instanceof SVGElement;
    const colour = read(isSvg ? style.fill : style.color);
    colour[3] *= opacity;
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    found.set(JSON.stringify([colour, layers, isLarge]), [text, colour, layers, isLarge]);
  }
  return [...found.values()];
}"""

Colour = tuple[float, float, float]


def find_faint_texts(page: Page) -> list[tuple[str, float]]:
    """The texts that stand out less than they must: 4.5 to 1, large ones 3 to 1."""
    found = page.evaluate(TEXTS)
    assert len(found) > 5
    faint = []
    for text, colour, layers, is_large in found:
        behind: Colour = (255.0, 255.0, 255.0)
        for layer in reversed(layers):
            behind = lay_over(layer, behind)
        ratio = contrast(lay_over(colour, behind), behind)
        if ratio < (3 if is_large else 4.5):
            faint.append((text, round(ratio, 2)))
    return faint


def lay_over(layer: list[float], behind: Colour) -> Colour:
    """A colour that lets through some of what is behind it."""
    *colour, alpha = layer
    red, green, blue = (
        alpha * above + (1 - alpha) * below for above, below in zip(colour, behind, strict=True)
    )
    return red, green, blue


def contrast(one: Colour, other: Colour) -> float:
    """How far two colours are apart, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: Colour) -> float:
    """How light a colour is, from 0 to 1."""
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (value / 255 for value in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
