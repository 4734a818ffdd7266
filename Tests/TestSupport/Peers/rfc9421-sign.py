"""Signs the requests of a JSON array with http-message-signatures, and prints them."""
import sys, json, base64, hashlib, datetime, types
from http_message_signatures import HTTPMessageSigner, HTTPSignatureKeyResolver, algorithms
class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id): return bytes(range(32))
    def resolve_private_key(self, key_id): return bytes(range(32))
signer = HTTPMessageSigner(signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys())
signed = []
for item in json.load(sys.stdin):
    body = base64.b64decode(item["body"])
    request = types.SimpleNamespace(
        method=item["method"], url="https://api.example.com" + item["target"],
        headers=item["fields"], body=body)
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    request.headers["Content-Digest"] = "sha-256=:" + digest + ":"
    signer.sign(
        request, key_id="orders-2026", covered_component_ids=item["covers"].split(","),
        created=datetime.datetime.fromtimestamp(1795228551), nonce="n-1", tag="t",
        include_alg=item["alg"], use_existing_digest=True)
    head = item["method"] + " " + item["target"] + " HTTP/1.1\r\nHost: api.example.com\r\n"
    for name, value in request.headers.items(): head += name + ": " + value + "\r\n"
    signed.append(base64.b64encode(head.encode() + b"\r\n" + body).decode())
json.dump(signed, sys.stdout)
