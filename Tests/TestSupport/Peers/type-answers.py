"""Runs a program on a pseudo-terminal, types an answer at each question, and prints what was shown."""
import json, os, pty, select, sys, termios
answers = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    os.chdir(sys.argv[2])
    os.execv(sys.argv[3], sys.argv[3:])
def echo(): return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
shown, silent, restored = b"", [], None
while True:
    if not select.select([terminal], [], [], 60)[0]: sys.exit("nothing more was shown")
    try: found = os.read(terminal, 4096)
    except OSError: break
    if not found: break
    shown += found
    if shown.endswith(b": ") and answers:
        silent.append(not echo())
        answer = answers.pop(0)
        if answer.startswith("kill "): os.kill(child, int(answer[5:]))
        else: os.write(terminal, answer.encode())
restored = echo()
_, status = os.waitpid(child, 0)
print(json.dumps({"shown": shown.decode(), "silent": silent, "restored": restored,
                  "exit": os.waitstatus_to_exitcode(status)}))
