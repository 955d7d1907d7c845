"""SVG 1.1 by hand: shapes, and a style sheet that holds in light and dark.

Colours are those of Okabe and Ito (https://jfly.uni-koeln.de/color/), which people with any common colour blindness
tell apart; a series has besides its own mark and dashes. Dark screens get the lighter ones of them. Values in cells
stand on viridis (matplotlib's, by van der Walt and Smith), in black or white, whichever contrasts more.
"""

from __future__ import annotations

from collections.abc import Sequence

MARKS = ("circle", "square", "triangle", "diamond")
SERIES = (("#0072b2", "#56b4e9", "5 4"), ("#c24e00", "#e69f00", ""), ("#00765a", "#2fc79c", "2 3"),
          ("#a8487c", "#dd8fbd", "9 3 2 3"))  # on light, on dark, dashes
VIRIDIS = ("#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6dcd59", "#b4de2c", "#fde725")
_LIGHT = {"ground": "#ffffff", "ink": "#1b1b1b", "faint": "#595959", "rule": "#dedede", "none": "#efefef"}
_DARK = {"ground": "#16181c", "ink": "#ececec", "faint": "#a9adb5", "rule": "#383c44", "none": "#262a31"}


def escaped(text: str) -> str:
    """TEXT as XML has it; what cannot be seen, as signs that control or turn what follows, as U+FFFD."""
    safe = "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        safe = safe.replace(char, entity)
    return safe


class Canvas:
    """A picture that grows downwards. Coordinates are pixels from its upper left corner."""

    def __init__(self, width: float, title: str, description: str) -> None:
        self.width, self.height = width, 0.0
        self._title, self._description = title, description
        self._parts: list[str] = []

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """A straight line of a KIND of the style sheet."""
        (x1, y1), (x2, y2) = start, end
        self._parts.append(f'<line class="{kind}" x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}"/>')

    def path(self, points: Sequence[tuple[float, float]], series: int) -> None:
        """A line through POINTS in the colour and dashes of a series."""
        if len(points) > 1:
            places = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
            self._parts.append(f'<polyline class="line s{series % len(SERIES)}" points="{places}"/>')

    def mark(self, x: float, y: float, series: int) -> None:
        """The mark of a series, after four in another colour; a circle is a ring, which shows round another."""
        shape, kind = MARKS[(series + series // len(SERIES)) % len(MARKS)], f"mark s{series % len(SERIES)}"
        if shape == "circle":
            self._parts.append(f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="6"/>')
            return
        corners = {"square": ((-4, -4), (4, -4), (4, 4), (-4, 4)), "triangle": ((0, -5), (5, 4), (-5, 4)),
                   "diamond": ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0))}[shape]
        places = " ".join(f"{_n(x + dx)},{_n(y + dy)}" for dx, dy in corners)
        self._parts.append(f'<polygon class="{kind}" points="{places}"/>')

    def whisker(self, x: float, low: float, high: float, series: int) -> None:
        """A spread: from LOW to HIGH at X, with a foot at both ends."""
        kind = f"whisker s{series % len(SERIES)}"
        for start, end in (((x, low), (x, high)), ((x - 3, low), (x + 3, low)), ((x - 3, high), (x + 3, high))):
            self.line(start, end, kind)

    def text(self, x: float, y: float, text: str, kind: str = "ink", anchor: str = "start", turn: float = 0) -> None:
        """TEXT with its baseline at Y; TURN is in degrees, clockwise."""
        turned = f' transform="rotate({_n(turn)} {_n(x)} {_n(y)})"' if turn else ""
        place = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(f'<text class="{kind}" x="{_n(x)}" y="{_n(y)}"{place}{turned}>{escaped(text)}</text>')

    def cell(self, x: float, y: float, size: tuple[float, float], color: str | None, kind: str, words: str) -> None:
        """A box in a colour of its own, or as what is not there; WORDS show when it is pointed at."""
        fill = f' fill="{color}"' if color else ""
        self._parts.append(f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" width="{_n(size[0])}" '
                           f'height="{_n(size[1])}"{fill}><title>{escaped(words)}</title></rect>')

    def svg(self) -> str:
        """The whole document."""
        width, height = _n(self.width), _n(self.height)
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title description">')
        return "\n".join((
            head, f'<title id="title">{escaped(self._title)}</title>',
            f'<desc id="description">{escaped(self._description)}</desc>', f"<style>{_style()}</style>",
            f'<rect class="ground" width="{width}" height="{height}"/>', *self._parts, "</svg>", ""))


def shade(share: float) -> str:
    """The colour of viridis at SHARE of its way, from 0 to 1."""
    place = min(max(share, 0.0), 1.0) * (len(VIRIDIS) - 1)
    at = min(int(place), len(VIRIDIS) - 2)
    mixed = (round(a + (b - a) * (place - at)) for a, b in zip(_rgb(VIRIDIS[at]), _rgb(VIRIDIS[at + 1]), strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def on(color: str) -> str:
    """The kind of text that is read best on COLOR: by WCAG 2.1, relative luminance and contrast ratio."""
    red, green, blue = (value / 255 / 12.92 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4
                        for value in _rgb(color))
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "onlight" if (light + 0.05) / 0.05 >= 1.05 / (light + 0.05) else "ondark"


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _style() -> str:
    dashes = "".join(f".line.s{at}{{stroke-dasharray:{dash}}}" for at, (_, _, dash) in enumerate(SERIES) if dash)
    return (
        "svg{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}"
        ".head{font-size:15px;font-weight:600}.small{font-size:11px}.number{font-size:11px}"
        ".line{fill:none;stroke-width:2}.mark{stroke-width:2}.whisker{stroke-width:1.5}"
        ".rule,.axis,.change{stroke-width:1}.change{stroke-dasharray:3 3}.changed{stroke-width:3}"
        ".onlight{fill:#000}.ondark{fill:#fff}" + dashes + _themed(_LIGHT, 0)
        + f"@media(prefers-color-scheme:dark){{{_themed(_DARK, 1)}}}"
    )


def _themed(colors: dict[str, str], column: int) -> str:
    series = "".join(f".s{at}{{stroke:{one[column]};fill:{one[column]}}}" for at, one in enumerate(SERIES))
    return (
        series + f".mark.s0{{fill:{colors['ground']}}}.line{{fill:none}}.ground{{fill:{colors['ground']}}}"
        f".ink,.head{{fill:{colors['ink']}}}.faint,.small{{fill:{colors['faint']}}}.none{{fill:{colors['none']}}}"
        f".rule{{stroke:{colors['rule']}}}.axis,.change{{stroke:{colors['faint']}}}"
        f".cell,.none{{stroke:{colors['ground']}}}.changed{{stroke:{colors['ink']}}}"
    )
