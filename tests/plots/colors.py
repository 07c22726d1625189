"""How colors look: their contrast, and to people with other types of color vision."""

from __future__ import annotations

import math

Channels = tuple[float, float, float]

# Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of color vision
# deficiency", IEEE Transactions on Visualization and Computer Graphics 15 (6), 2009, severity 1.
VISIONS: dict[str, tuple[Channels, Channels, Channels]] = {
    "trichromat": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanope": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranope": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanope": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
# The primaries and the white of sRGB (IEC 61966-2-1).
TO_XYZ: tuple[Channels, Channels, Channels] = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE: Channels = (0.95047, 1.0, 1.08883)


def multiply(matrix: tuple[Channels, Channels, Channels], channels: Channels) -> Channels:
    red, green, blue = (
        math.fsum(factor * channel for factor, channel in zip(row, channels, strict=True))
        for row in matrix
    )
    return red, green, blue


def linear(color: str) -> Channels:
    """The channels of a color without gamma, from 0 to 1."""
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    )
    return red, green, blue


def luminance(color: str) -> float:
    """The relative luminance, 0 for black and 1 for white."""
    return multiply(TO_XYZ, linear(color))[1]


def lab(channels: Channels) -> Channels:
    """The coordinates of CIE 1976: lightness from 0 to 100, and two for the hue."""
    x, y, z = (
        share ** (1 / 3) if share > (6 / 29) ** 3 else share * (29 / 6) ** 2 / 3 + 4 / 29
        for share in (
            value / white for value, white in zip(multiply(TO_XYZ, channels), WHITE, strict=True)
        )
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def lightness(color: str) -> float:
    return lab(linear(color))[0]


def hue(color: str) -> float:
    """The angle of the hue, in degrees."""
    _, a, b = lab(linear(color))
    return math.degrees(math.atan2(b, a)) % 360


def contrast(one: str, other: str) -> float:
    """The contrast ratio of the Web Content Accessibility Guidelines."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def distance(one: str, other: str, vision: str) -> float:
    """How far apart two colors are for a type of color vision (CIE 1976)."""
    seen = []
    for color in (one, other):
        red, green, blue = multiply(VISIONS[vision], linear(color))
        seen.append(lab((min(max(red, 0), 1), min(max(green, 0), 1), min(max(blue, 0), 1))))
    return math.dist(*seen)
