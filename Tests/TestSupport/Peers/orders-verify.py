"""Prints whether http-message-signatures accepts a request that the arguments give."""
import base64, datetime, json, sys
import http_message_signatures as hms

keys, method, url, body, *fields = sys.argv[1:]
keys = {key["kid"]: key["k"] for key in json.load(open(keys))["keys"]}

class Keys(hms.HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id):
        text = keys[key_id]
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

class Request:
    pass

request = Request()
request.method, request.url, request.headers = method, url, {}
for line in fields:
    name, value = line.split(":", 1)
    request.headers[name] = ", ".join(
        filter(None, [request.headers.get(name), value.strip()]))
verifier = hms.HTTPMessageVerifier(
    signature_algorithm=hms.algorithms.HMAC_SHA256, key_resolver=Keys())
try:
    verifier.verify(
        request, max_age=datetime.timedelta(seconds=300), body=body.encode(),
        require_components=("@method", "@authority", "@path"))
    print("yes")
except hms.InvalidSignature as error:
    print("no")
    print(error, file=sys.stderr)
