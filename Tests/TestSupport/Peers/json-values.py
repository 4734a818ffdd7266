"""Reads a JSON document in hexadecimal a line; prints what it is and its value, compact."""
import json, sys
sys.setrecursionlimit(10000)
class Number(str): pass
class Refused(Exception): pass
def pairs(members):
    if len({name for name, _ in members}) != len(members): raise Refused("duplicate")
    return dict(members)
def constant(text): raise Refused("constant")
short = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
def quoted(text):
    if any(0xd800 <= ord(c) < 0xe000 for c in text): raise Refused("surrogate")
    return '"' + "".join(
        short.get(ord(c)) or ("\\u%04x" % ord(c) if ord(c) < 32 else c) for c in text) + '"'
def written(value):
    if value is None: return "null"
    if value is True: return "true"
    if value is False: return "false"
    if isinstance(value, Number): return str(value)
    if isinstance(value, str): return quoted(value)
    if isinstance(value, list): return "[" + ",".join(map(written, value)) + "]"
    return "{" + ",".join(quoted(k) + ":" + written(v) for k, v in value.items()) + "}"
for line in sys.stdin:
    try:
        value = json.loads(bytes.fromhex(line).decode("utf-8"), parse_int=Number,
            parse_float=Number, parse_constant=constant, object_pairs_hook=pairs)
        print("value", written(value).encode().hex())
    except Refused as refused: print(refused)
    except ValueError: print("malformed")
