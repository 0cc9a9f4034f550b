"""Work runs without the interpreter's lock, and from any thread."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import midfold
import pytest
from conftest import coding_session
from midfold import trajectories


def test_many_threads_compact_alike(session_messages):
    expected = midfold.compact(session_messages, window=16_000)
    with ThreadPoolExecutor(8) as pool:
        work = [pool.submit(midfold.compact, session_messages, window=16_000) for _ in range(24)]
        results = [one.result() for one in work]
    assert all(one.messages == expected.messages for one in results)
    assert all(one.messages[0] is session_messages[0] for one in results)


def test_the_interpreter_goes_on_while_the_engine_works():
    text = "\n".join(str(n) for n in range(2_000_000))
    ticks, done = 0, threading.Event()

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    clock = threading.Thread(target=tick)
    clock.start()
    before, begun = ticks, time.perf_counter()
    midfold.count_tokens(text)
    during, took = ticks - before, time.perf_counter() - begun
    done.set()
    clock.join()
    # With the lock held it could tick once or twice, at the border.
    assert took > 0.02 and during > 5


def test_one_session_takes_messages_from_many_threads():
    session = midfold.Session(window=16_000)
    session.append({"role": "user", "content": "start"})

    def work(thread):
        places = []
        for n in range(50):
            places += session.append({"role": "user", "content": f"{thread}-{n} " + "word " * 20})
            context = session.context()
            assert context.tokens <= 16_000 and context.json().startswith(b"[")
        return places

    with ThreadPoolExecutor(6) as pool:
        places = [place for one in pool.map(work, range(6)) for place in one]
    assert sorted(places) == list(range(1, 301))
    assert len(session) == 301


def test_rows_of_many_threads_are_those_of_one(rows):
    settings = {"target_tokens": 1_500, "summary_tokens": 150}
    one = [done.row for done in trajectories.compress(rows, workers=1, **settings)]
    four = [done.row for done in trajectories.compress(rows, workers=4, **settings)]
    assert one == four


INTERRUPTED = """
import signal, sys
from midfold import trajectories
from conftest import sharegpt_row

# The same rows again and again: to the end it would take minutes.
rows = [sharegpt_row(60, seed) for seed in range(20)] * 100_000
compressor = trajectories.Compressor(target_tokens=1_500, summary_tokens=150)
# Whoever starts the tests in the background has Ctrl-C ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print("ready", flush=True)
    compressor.rows(rows)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
print("finished", flush=True)
"""


def test_ctrl_c_ends_a_long_call(request):
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=request.path.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=30) == 7
    assert child.stdout.read() == "interrupted\n"


@pytest.fixture
def ctrl_c():
    """Ctrl-C as Python has it where nobody had it ignored before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_replay_between_two_strategies():
    messages, seen = coding_session(60), []

    def progress(done, total):
        seen.append((done, total))
        if done == 2:
            signal.raise_signal(signal.SIGINT)

    try:
        midfold.replay(messages, windows=[8_000] * 6, progress=progress)
    except KeyboardInterrupt:
        assert seen == [(1, 6), (2, 6)]
    else:
        raise AssertionError("it went on")
