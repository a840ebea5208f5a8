"""How long something took, or takes, in words."""


def duration(seconds: float) -> str:
    """A duration as a person reads it, in at most two units.

    Examples
    --------
    >>> from infomeans.durations import duration
    >>> [duration(seconds) for seconds in (0.3, 45.2, 200, 3900)]
    ['<1 s', '45 s', '3 min 20 s', '1 h 5 min']
    """
    if seconds < 1:
        return "<1 s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
