# SPDX-License-Identifier: Apache-2.0
"""Runs a command with a terminal as its standard output and error: terminal.py COMMAND..."""
import os
import pty
import sys

sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], stdin_read=lambda fd: b"")))
