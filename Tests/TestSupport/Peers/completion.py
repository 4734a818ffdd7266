"""Types a line with a tab into a shell on a pseudo-terminal, and waits until the completed line was run."""
import os, pty, select, sys, time
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
def read(word):
    seen, end = b"", time.time() + 60
    while word not in seen and time.time() < end:
        if select.select([terminal], [], [], 1)[0]:
            try: seen += os.read(terminal, 4096)
            except OSError: break
    return seen
read(b"READY")
os.write(terminal, b"signet vault get partner.to\t")
read(b"partner.token")
os.write(terminal, b"\n")
print(read(b"partner.token\" is secret").decode(errors="replace"))
os.write(terminal, b"\x03exit\n")
os.close(terminal)
