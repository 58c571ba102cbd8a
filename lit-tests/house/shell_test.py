# SPDX-License-Identifier: Apache-2.0
"""Lit's format of shell tests, without the tests that excluded.txt excludes in a variant, and with a limit for tests that hang."""
import ctypes
import os
import signal
import threading

import lit.formats
import lit.Test


def read(root, variants):
    """Returns the reason for each path that is excluded in one of the variants."""
    reasons = {}
    with open(os.path.join(root, "excluded.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            name, _, reason = line.strip().partition(": ")
            variant, path = name.split()
            if not reason or not os.path.exists(os.path.join(root, path)):
                raise ValueError(f"excluded.txt: the test or the reason is missing: {line.strip()}")
            if variant in variants:
                reasons[path] = reason
    return reasons


PR_SET_CHILD_SUBREAPER = 36  # of <sys/prctl.h>


def children_of(process):
    """Returns the processes that a process started, in any of its threads; an empty list if the process has ended."""
    children = []
    try:
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
                children += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return children


def kill_descendants(process):
    """Kills a process and its descendants.  Stops the process first, so that it starts no others."""
    try:
        os.kill(process, signal.SIGSTOP)
        for child in children_of(process):
            kill_descendants(child)
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass  # the process has ended


class ShTest(lit.formats.ShTest):
    """`limit`: seconds after which a test counts as hanging.  Lit's limit needs a Python package that Debian does not install with lit."""

    def __init__(self, root, variants, limit):
        super().__init__(execute_external=False)
        self.reasons, self.limit = read(root, variants), limit

    def execute(self, test, lit_config):
        reason = self.reasons.get("/".join(test.path_in_suite))
        if reason:
            return lit.Test.Result(lit.Test.UNSUPPORTED, reason)
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # a daemon of a test becomes a child of this worker
        ended = threading.Event()
        hung = []

        def watch():  # all children of this worker belong to this test; children started after the first kill end, too
            while not ended.wait(1 if hung else self.limit):
                hung.append(True)
                for child in children_of("self"):
                    kill_descendants(child)
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
