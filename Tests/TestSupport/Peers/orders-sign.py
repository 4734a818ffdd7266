"""Signs the requests of a JSON array with http-message-signatures."""
import base64, datetime, hashlib, json, sys
from http_message_signatures import HTTPMessageSigner, HTTPSignatureKeyResolver, algorithms

base, keys = sys.argv[1:]
keys = {key["kid"]: key["k"] for key in json.load(open(keys))["keys"]}

class Keys(HTTPSignatureKeyResolver):
    def resolve_private_key(self, key_id):
        text = keys.get(key_id, "A" * 43)
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

class Request:
    pass

answers = []
for wanted in json.load(sys.stdin):
    request = Request()
    request.method, request.url = wanted["method"], base + wanted["target"]
    lines = [line.split(":", 1) for line in wanted["fields"]]
    fields = {}
    for name, value in lines:
        fields[name] = ", ".join(filter(None, [fields.get(name), value.strip()]))
    added = {}
    if wanted["body"] and "content-digest" in wanted["covers"]:
        digest = base64.b64encode(hashlib.sha256(wanted["body"].encode()).digest()).decode()
        added["Content-Digest"] = f"sha-256=:{digest}:"
    request.headers = dict(fields, **added)
    created = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(
        seconds=wanted["age"])
    expires = wanted.get("expires")
    signer = HTTPMessageSigner(
        signature_algorithm=algorithms.HMAC_SHA256, key_resolver=Keys())
    signer.sign(
        request, key_id=wanted["keyID"], created=created, label="sig", tag=wanted.get("tag"),
        expires=expires and created + datetime.timedelta(seconds=expires),
        include_alg=wanted["includesAlgorithm"],
        covered_component_ids=wanted["covers"],
        use_existing_digest="Content-Digest" in added)
    for name in ("Content-Digest", "Signature-Input", "Signature"):
        if name in request.headers:
            wanted["fields"].append(f"{name}: {request.headers[name]}")
    answers.append(wanted)
json.dump(answers, sys.stdout)
