"""How far each text of a page stands out from what is behind it, as WCAG 2 computes it."""

from __future__ import annotations

SCHEMES = ("light", "dark")
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
    const color = read(isSvg ? style.fill : style.color);
    color[3] *= opacity;
    const size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    found.set(JSON.stringify([color, layers, isLarge]), [text, color, layers, isLarge]);
  }
  return [...found.values()];
}"""


def find_faint_texts(page):
    """The texts that stand out less than they must: 4.5 to 1, large ones 3 to 1."""
    found = page.evaluate(TEXTS)
    assert len(found) > 5
    faint = []
    for text, color, layers, is_large in found:
        behind = (255.0, 255.0, 255.0)
        for layer in reversed(layers):
            behind = lay_over(layer, behind)
        ratio = contrast(lay_over(color, behind), behind)
        if ratio < (3 if is_large else 4.5):
            faint.append((text, round(ratio, 2)))
    return faint


def lay_over(layer, behind):
    """A color that lets through some of what is behind it."""
    *color, alpha = layer
    red, green, blue = (
        alpha * above + (1 - alpha) * below for above, below in zip(color, behind, strict=True)
    )
    return red, green, blue


def contrast(one, other):
    """How far two colors are apart, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(color):
    """How light a color is, from 0 to 1."""
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
        for share in (value / 255 for value in color)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
