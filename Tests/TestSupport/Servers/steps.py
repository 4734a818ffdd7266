"""Does with each connection what a test's steps say."""
import json
from servers import arguments, play, serve

steps = json.loads(arguments[0])
serve(lambda c: play(c, steps))
