"""Runs a command in a pseudo-terminal. Reads a request as JSON on standard input, prints the outcome as JSON."""
import fcntl, json, os, pty, select, struct, subprocess, sys, termios, time

request = json.load(sys.stdin)
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', request['rows'], request['columns'], 0, 0))


def own_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


child = subprocess.Popen(
    request['command'],
    cwd=request['cwd'],
    env=request['env'],
    stdin=slave,
    stdout=subprocess.PIPE if request['pipeOutput'] else slave,
    stderr=slave,
    preexec_fn=own_terminal,
)
os.close(slave)
seen = b''
output = b''
steps = list(request['steps'])
mark = 0
shown = []
quiet = request.get('quietMs', 0) / 1000
last = time.monotonic()
deadline = time.monotonic() + request['timeoutMs'] / 1000
open_ends = [master] + ([child.stdout.fileno()] if request['pipeOutput'] else [])
while open_ends and time.monotonic() < deadline:
    ready, _, _ = select.select(open_ends, [], [], 0.05 if quiet else 0.2)
    for end in ready:
        try:
            data = os.read(end, 65536)
        except OSError:
            data = b''
        if not data:
            open_ends.remove(end)
        elif end == master:
            seen += data
            last = time.monotonic()
        else:
            output += data
    while steps and steps[0]['after'].encode() in seen[mark:] and time.monotonic() - last >= quiet:
        mark = len(seen)
        shown.append(seen.decode('utf-8', 'replace'))
        last = time.monotonic()
        os.write(master, steps.pop(0)['type'].encode())
if open_ends and child.poll() is None:
    child.kill()
status = child.wait()
json.dump(
    {
        'status': status,
        'terminal': seen.decode('utf-8', 'replace'),
        'stdout': output.decode('utf-8', 'replace'),
        'shown': shown,
    },
    sys.stdout,
)
