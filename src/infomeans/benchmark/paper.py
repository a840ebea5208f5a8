"""Figures printed in the paper."""

DATASETS: dict[str, tuple[str, ...]] = {
    "usps": ("11,000", "10", "1 x 16 x 16", "10 %", "10 %"),
    "mnist-test": ("10,000", "10", "1 x 28 x 28", "8.92 %", "11.35 %"),
    "mnist-full": ("79,000", "10", "1 x 28 x 28", "9.01 %", "11.25 %"),
    "ytf": ("10,000", "41", "3 x 55 x 55", "0.31 %", "6.94 %"),
    "cmu-pie": ("2,856", "68", "1 x 32 x 32", "1.47 %", "1.47 %"),
    "frgc": ("2,462", "20", "3 x 32 x 32", "0.24 %", "10.51 %"),
}
"""Table 1: samples, classes, dimensions, and the shares of the smallest and the largest class."""

Printed = tuple[float, float]
"""ACC and NMI."""

RESULTS: dict[str, dict[str, Printed]] = {
    "mi-adm": {
        "usps": (0.979, 0.948),
        "mnist-test": (0.871, 0.885),
        "mnist-full": (0.969, 0.922),
        "ytf": (0.606, 0.801),
        "cmu-pie": (0.858, 0.965),
        "frgc": (0.431, 0.580),
    },
    "sr-kmeans": {
        "usps": (0.974, 0.936),
        "mnist-test": (0.863, 0.873),
        "mnist-full": (0.939, 0.866),
        "ytf": (0.605, 0.806),
        "cmu-pie": (0.902, 0.945),
        "frgc": (0.413, 0.487),
    },
    "depict": {
        "usps": (0.978, 0.945),
        "mnist-test": (0.872, 0.886),
        "mnist-full": (0.971, 0.925),
        "ytf": (0.611, 0.802),
        "cmu-pie": (0.850, 0.964),
        "frgc": (0.432, 0.583),
    },
    "mi-d": {
        "usps": (0.979, 0.948),
        "mnist-test": (0.867, 0.880),
        "mnist-full": (0.967, 0.921),
        "ytf": (0.616, 0.800),
        "cmu-pie": (0.705, 0.867),
        "frgc": (0.322, 0.444),
    },
    "dec": {
        "usps": (0.619, 0.586),
        "mnist-test": (0.859, 0.827),
        "mnist-full": (0.844, 0.816),
        "ytf": (0.371, 0.446),
        "cmu-pie": (0.801, 0.924),
        "frgc": (0.378, 0.505),
    },
    "dcn": {"mnist-full": (0.83, 0.81)},
}
"""Tables 2 and 3: by method, then by data set."""
