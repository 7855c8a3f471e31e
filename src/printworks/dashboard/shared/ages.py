"""How long something lasts or is ago, in words."""

from datetime import datetime, timedelta

from printworks.dashboard.shared.labels import count


def write_span(span: timedelta) -> str:
    """Return how long something is, roughly: `3 hours`."""
    seconds = max(int(span.total_seconds()), 0)
    for size, noun in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size * (2 if noun == "day" else 1):
            return count(seconds // size, noun)
    return "less than a minute"


def write_age(at: datetime, *, now: datetime) -> str:
    """Return how long ago something was; a merchant's clock may be ahead."""
    return f"{write_span(now - at)} ago" if at <= now else "in the future, by the merchant's clock"


def describe_age(age: timedelta) -> str:
    """Say how long ago something was, in one or two words."""
    if age.days < 1:
        return "Today" if age < timedelta(hours=12) else "Since yesterday"
    return "1 day" if age.days == 1 else f"{age.days} days"
