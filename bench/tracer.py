"""Measures what recording costs: the time an event against a bare trace function that returns itself.

    python3 bench/tracer.py

Prints, for each kind of growing value and each number of events, the ratio of the two. Times are processor
time, the best of several rounds, so that other programs on the machine matter little.
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / 'adapter' / 'python'))
import tracer  # noqa: E402


def grow_list(turns):
    items = []
    for i in range(turns):
        items.append(i)
        last = items[-1]
    return last


def grow_dict(turns):
    table = {}
    for i in range(turns):
        table[i] = i * i
        last = table[i]
    return last


def grow_set(turns):
    seen = set()
    for i in range(turns):
        seen.add(i * 7)
        last = len(seen)
    return last


def grow_string(turns):
    text = ''
    for i in range(turns):
        text += 'x'
        last = len(text)
    return last


def count_words(turns):
    counts = {}
    for i in range(turns):
        word = 'w%d' % (i % 50)
        counts[word] = counts.get(word, 0) + 1
    return counts


def swap_items(turns):
    items = list(range(60))
    for i in range(turns):
        at = i % 59
        items[at], items[at + 1] = items[at + 1], items[at]
    return items


def grow_all(turns):
    items, table, seen = [], {}, set()
    for i in range(turns):
        items.append(i)
        table[i] = str(i)
        seen.add(i)
    return len(items)


def fill_matrix(turns):
    rows = [[0] * 8 for _ in range(8)]
    for i in range(turns):
        rows[i % 8][i // 8 % 8] = i
        last = i
    return last


def plain_numbers(turns):
    a, b = 0, 1
    for i in range(turns):
        a, b = b, (a + b) % 1000
        last = i
    return last


programs = [
    *(plain_numbers, grow_list, grow_dict, grow_set, grow_string, grow_all),
    *(count_words, swap_items, fill_matrix),
]


def bare(frame, event, arg):
    return bare


def time_of(trace, program, turns):
    sys.settrace(trace)
    start = time.thread_time()
    program(turns)
    end = time.thread_time()
    sys.settrace(None)
    return end - start


def count_events(program, turns):
    count = 0

    def trace(frame, event, arg):
        nonlocal count
        count += 1
        return trace

    sys.settrace(trace)
    program(turns)
    sys.settrace(None)
    return count


def turns_for(program, events):
    """How many turns of the program's loop give about so many events."""
    few, more = count_events(program, 1), count_events(program, 11)
    return max(1, round((events - few) / ((more - few) / 10)))


def main():
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, tracer.EVENTS_FD)
    sizes = (250, 2400, 20000)
    rounds = {250: 40, 2400: 10, 20000: 3}
    print('%-14s' % 'events' + ''.join('%22d' % size for size in sizes))
    for program in programs:
        columns = []
        for size in sizes:
            turns = turns_for(program, size)
            events = count_events(program, turns)
            # In turn, so that a slow moment of the machine meets both.
            pairs = []
            for _ in range(rounds[size]):
                limits = {'events': 10**9, 'output': 10**9}
                recorder = tracer.Recorder(__file__, limits, {})
                pairs.append((time_of(bare, program, turns), time_of(recorder.enter, program, turns)))
            base, recorded = (min(times) / events * 1e9 for times in zip(*pairs))
            columns.append('%6.1fx (%5.0f/%4.0f ns)' % (recorded / base, recorded, base))
        print('%-14s' % program.__name__ + ''.join('%22s' % column for column in columns))


main()
