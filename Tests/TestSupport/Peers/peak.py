"""Runs a program, and prints its status, the length of its output and its peak memory."""
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(done.returncode, len(done.stdout), peak * 1024)
