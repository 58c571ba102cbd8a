# SPDX-License-Identifier: Apache-2.0
"""Lit's format of shell tests, without those that excluded.txt leaves out of a variant of the run, and with an end for tests that hang."""
import os
import signal
import threading

import lit.formats
import lit.Test


def read(root, variants):
    """By path, the reasons of what is left out in any of the variants."""
    reasons = {}
    with open(os.path.join(root, "excluded.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            name, _, reason = line.strip().partition(": ")
            variant, path = name.split()
            if not reason or not os.path.exists(os.path.join(root, path)):
                raise ValueError(f"excluded.txt: no such test, or no reason: {line.strip()}")
            if variant in variants:
                reasons[path] = reason
    return reasons


def kill_descendants(parent):
    """Kills the processes that a process started, and those that these started.  It is stopped meanwhile, so that it starts no others."""
    try:
        os.kill(parent, signal.SIGSTOP)
        with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return  # it has ended
    for child in children:
        kill_descendants(child)
    os.kill(parent, signal.SIGKILL)


class ShTest(lit.formats.ShTest):
    """`limit`: seconds after which a test counts as hanging.  Lit's own limit needs a package of Python that Debian does not install with it."""

    def __init__(self, root, variants, limit):
        super().__init__(execute_external=False)
        self.reasons, self.limit = read(root, variants), limit

    def execute(self, test, lit_config):
        reason = self.reasons.get("/".join(test.path_in_suite))
        if reason:
            return lit.Test.Result(lit.Test.UNSUPPORTED, reason)
        ended = threading.Event()
        hung = []

        def watch():  # all processes that this worker started are of this test; one that it starts after the first kill ends, too
            while not ended.wait(1 if hung else self.limit):
                hung.append(True)
                for task in os.listdir("/proc/self/task"):
                    with open(f"/proc/self/task/{task}/children", encoding="ascii") as file:
                        for child in file.read().split():
                            kill_descendants(int(child))
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            result = super().execute(test, lit_config)
        finally:
            ended.set()
            watcher.join()
        if hung:
            return lit.Test.Result(lit.Test.FAIL, f"the test was ended after {self.limit} seconds\n{result.output}")
        return result
