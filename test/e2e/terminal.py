"""Runs a command in a pseudo-terminal: what comes on standard input is typed, what is shown goes to standard output."""
import fcntl, os, pty, select, signal, struct, sys, termios

# What a terminal answers by itself: where the cursor is, and what it is.
ANSWERS = {b'\x1b[6n': b'\x1b[1;1R', b'\x1b[c': b'\x1b[?1;2c'}

child, master = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 160, 0, 0))
open_ends = [0, master]
while master in open_ends:
    ready, _, _ = select.select(open_ends, [], [])
    for end in ready:
        try:
            data = os.read(end, 65536)
        except OSError:
            data = b''
        if end == 0:
            if data:
                os.write(master, data)
            else:
                open_ends.remove(0)
                os.kill(child, signal.SIGKILL)
        elif data:
            os.write(1, data)
            for question, answer in ANSWERS.items():
                os.write(master, answer * data.count(question))
        else:
            open_ends.remove(master)
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
