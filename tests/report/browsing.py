"""What the tests in a browser ask of a page."""

DRAWN = "#shown:not(:empty)"
"""Is there when the map has been drawn."""


def shown(page):
    """How many samples the map says it shows."""
    page.wait_for_function("waiting === 0")
    return int(page.inner_text("#shown").split(" of ")[0].replace(",", ""))
