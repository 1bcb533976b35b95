"""Conversion of units, and distances between coordinates."""

from __future__ import annotations

from math import atan, atan2, cos, radians, sin, sqrt, tan

_FACTORS: dict[str, dict[str, float]] = {
    "length": {
        "meter metre m": 1, "kilometer kilometre km": 1e3, "centimeter centimetre cm": 1e-2,
        "millimeter millimetre mm": 1e-3, "mile mi": 1609.344, "yard yd": 0.9144, "foot feet ft": 0.3048,
        "inch inches in": 0.0254, "nautical_mile nmi": 1852,
    },
    "mass": {
        "gram g": 1e-3, "kilogram kg": 1, "milligram mg": 1e-6, "pound lb lbs": 0.45359237, "ounce oz": 0.028349523125,
        "stone": 6.35029318, "ton": 907.18474, "tonne metric_ton": 1e3,
    },
    "time": {"second s": 1, "minute min": 60, "hour h hr": 3600, "day": 86400, "week": 604800, "millisecond ms": 1e-3},
    "volume": {
        "liter litre l": 1e-3, "milliliter millilitre ml": 1e-6, "gallon": 3.785411784e-3, "quart": 9.46352946e-4,
        "pint": 4.73176473e-4, "cup": 2.365882365e-4, "tablespoon tbsp": 1.478676478125e-5,
        "teaspoon tsp": 4.92892159375e-6,
    },
    "area": {"acre": 4046.872609874252, "hectare": 1e4},
    "speed": {"mph": 0.44704, "kph": 1 / 3.6, "knot": 1852 / 3600, "mps": 1},
}  # fmt: skip
_KINDS = {name: (kind, by) for kind, units in _FACTORS.items() for names, by in units.items() for name in names.split()}
_DEGREES = {
    "kelvin": (1.0, 0.0), "k": (1.0, 0.0), "celsius": (1.0, 273.15), "degc": (1.0, 273.15),
    "fahrenheit": (5 / 9, 273.15 - 32 * 5 / 9), "degf": (5 / 9, 273.15 - 32 * 5 / 9),
}  # fmt: skip


def converted(amount: float, source: str, wanted: str) -> float:
    """Convert an amount from one unit to another.

    Raises:
        KeyError: A unit is unknown. The argument is its name.
        ValueError: The units measure different quantities.
    """
    (kind, scale, zero), (other, by, offset) = _unit(source), _unit(wanted)
    if kind != other:
        raise ValueError(f"{kind} cannot be converted to {other}")
    return (amount * scale + zero - offset) / by


def _unit(name: str) -> tuple[str, float, float]:
    """Return the kind, factor and zero point of a unit; plurals are accepted."""
    word = name.strip().lower().replace(" ", "_")
    if word in _DEGREES:
        return ("temperature", *_DEGREES[word])
    for known in (word, word.removesuffix("s")):
        if known in _KINDS:
            return (*_KINDS[known], 0.0)
    raise KeyError(name)


AXIS, FLATTENING = 6378.137, 1 / 298.257223563
"""Semi-major axis in kilometers and flattening of the WGS 84 ellipsoid."""
RADIUS = 6367.449
"""Radius in kilometers of the sphere whose great circles have the length of a meridian."""


def distance(latitude: float, longitude: float, other_latitude: float, other_longitude: float) -> float:
    """Return the distance between two points on the WGS 84 ellipsoid in kilometers (Vincenty's inverse formula).

    For nearly antipodal points, for which the formula does not converge, return the distance on a sphere.
    """
    u, v = (atan((1 - FLATTENING) * tan(radians(a))) for a in (latitude, other_latitude))
    span = radians(other_longitude - longitude)
    across = span
    for _ in range(200):
        s = sqrt((cos(v) * sin(across)) ** 2 + (cos(u) * sin(v) - sin(u) * cos(v) * cos(across)) ** 2)
        c = sin(u) * sin(v) + cos(u) * cos(v) * cos(across)
        arc = atan2(s, c)
        if s < 1e-15:  # identical or antipodal points
            break
        slope = cos(u) * cos(v) * sin(across) / s
        square = 1 - slope**2
        middle = c - 2 * sin(u) * sin(v) / square if square > 1e-15 else 0.0
        k = FLATTENING / 16 * square * (4 + FLATTENING * (4 - 3 * square))
        bend = arc + k * s * (middle + k * c * (2 * middle**2 - 1))
        last, across = across, span + (1 - k) * FLATTENING * slope * bend
        if abs(across - last) < 1e-12:
            return _length(square, s, c, arc, middle)
    return RADIUS * arc


def _length(square: float, s: float, c: float, arc: float, middle: float) -> float:
    """Return the length of an arc on the ellipsoid by the series of Vincenty's formula."""
    axis = AXIS * (1 - FLATTENING)
    q = square * (AXIS**2 - axis**2) / axis**2
    a = 1 + q / 16384 * (4096 + q * (-768 + q * (320 - 175 * q)))
    b = q / 1024 * (256 + q * (-128 + q * (74 - 47 * q)))
    inner = c * (2 * middle**2 - 1) - b / 6 * middle * (4 * s**2 - 3) * (4 * middle**2 - 3)
    return axis * a * (arc - b * s * (middle + b / 4 * inner))
