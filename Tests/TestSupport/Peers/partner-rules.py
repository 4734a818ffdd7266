"""Computes the values of Python expressions over a request, as partners' documents write them."""
import sys, json, hmac, base64
task = json.load(sys.stdin)
url, time = task["url"].encode(), task["time"].encode()
body, secret = task["body"].encode(), task["secret"].encode()
def h(name, text): return hmac.digest(secret, text, name)
def b64(text): return base64.b64encode(text).decode()
json.dump([eval(rule) for rule in task["rules"]], sys.stdout)
