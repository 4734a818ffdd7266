"""Signs or verifies messages with one algorithm and key of http-message-signatures."""
import sys, json, datetime, types, http_message_signatures as hms
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier
from http_message_signatures import HTTPSignatureKeyResolver, algorithms
from joserfc.jwk import JWKRegistry
task = json.load(sys.stdin)
algorithm = {a.algorithm_id: a for a in (
    algorithms.HMAC_SHA256, algorithms.ED25519, algorithms.ECDSA_P256_SHA256,
    algorithms.ECDSA_P384_SHA384, algorithms.RSA_PSS_SHA512, algorithms.RSA_V1_5_SHA256,
)}[task["algorithm"]]
key = JWKRegistry.import_key(task["jwk"])
secret = key.raw_value if task["jwk"]["kty"] == "oct" else None
class Keys(HTTPSignatureKeyResolver):
    def resolve_public_key(self, key_id): return secret or key.public_key
    def resolve_private_key(self, key_id): return secret or key.private_key
signer = HTTPMessageSigner(signature_algorithm=algorithm, key_resolver=Keys())
verifier = HTTPMessageVerifier(signature_algorithm=algorithm, key_resolver=Keys())
answers = []
for item in task["messages"]:
    request = types.SimpleNamespace(
        method=item["method"], url="https://api.example.com" + item["target"],
        headers=item["fields"], body=None)
    if "Signature" in request.headers:
        try:
            verifier.verify(request, max_age=datetime.timedelta(days=36500))
            answers.append({"verdict": "ok"})
        except hms.exceptions.InvalidSignature:
            answers.append({"verdict": "invalid"})
        continue
    signer.sign(
        request, key_id="k", covered_component_ids=task["covers"],
        created=datetime.datetime.fromtimestamp(1795228551), include_alg=item["names"])
    answers.append(dict(request.headers))
json.dump(answers, sys.stdout)
