"""Measurements, smoothed by a generator. The report counts no readings at all. Who used them up?"""


def smooth(values, width):
    """Yields the average of each `width` neighbouring values."""
    window = []
    for value in values:
        window.append(value)
        if len(window) > width:
            window.pop(0)
        if len(window) == width:
            yield sum(window) / width


def report(readings):
    highest = max(readings)
    count = sum(1 for _ in readings)
    return {"highest": highest, "count": count}


temperatures = [18, 19, 23, 30, 22, 21]
smoothed = smooth(temperatures, 3)
summary = report(smoothed)
print(summary)
