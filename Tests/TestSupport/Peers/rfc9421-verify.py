"""Verifies the requests of a JSON array with http-message-signatures, and prints its verdicts."""
import sys, json, base64, datetime, types, http_message_signatures as hms
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms
class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id): return bytes(range(32))
    def resolve_private_key(self, key_id): return bytes(range(32))
verifier = HTTPMessageVerifier(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys())
verdicts = []
for item in json.load(sys.stdin):
    request = types.SimpleNamespace(
        method=item["method"], url="https://api.example.com" + item["target"],
        headers=item["fields"], body=base64.b64decode(item["body"]))
    try:
        results = verifier.verify(request, max_age=datetime.timedelta(days=36500))
        verdicts.append("ok " + " ".join(results[0].covered_components))
    except hms.exceptions.InvalidSignature:
        verdicts.append("invalid")
json.dump(verdicts, sys.stdout)
