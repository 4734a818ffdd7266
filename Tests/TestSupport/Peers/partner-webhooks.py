"""Signs the webhooks that have no signature, and verifies the others, with the partners' libraries."""
import sys, json, base64, time, urllib.parse
from slack_sdk.signature import SignatureVerifier
from twilio.request_validator import RequestValidator
from square.utils.webhooks_helper import verify_signature
from sendgrid.helpers.eventwebhook import EventWebhook
from cryptography.hazmat.primitives.asymmetric import ec
import shopify
now = 1795228551
time.time = lambda: now
class Clock:
    def now(self): return now
class Form(dict):
    def getall(self, name): return self[name]
def form(body):
    parsed = Form()
    for name, value in urllib.parse.parse_qsl(body, keep_blank_values=True):
        parsed.setdefault(name, []).append(value)
    return parsed
def number(text):
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")
answers = []
for item in json.load(sys.stdin):
    body = base64.b64decode(item["body"]).decode()
    fields = {f["name"].lower(): f["value"] for f in item["fields"]}
    other = item["other"]
    url = "https://" + item["host"] + item["target"]
    way, answer = item["way"], None
    if way == "slack-v0":
        verifier = SignatureVerifier(other["secret"], Clock())
        if "x-slack-signature" not in fields:
            answer = verifier.generate_signature(timestamp=str(now), body=body)
        else:
            answer = verifier.is_valid_request(body, fields)
    elif way == "twilio":
        validator = RequestValidator(other["secret"])
        params = body if "bodySHA256" in url else form(body)
        given = fields.get("x-twilio-signature")
        if given is None:
            answer = validator.compute_signature(url, params)
        else:
            answer = validator.validate(url, params, given)
    elif way == "square":
        answer = verify_signature(
            request_body=body, signature_header=fields["x-square-hmacsha256-signature"],
            signature_key=other["secret"], notification_url=url)
    elif way == "sendgrid":
        key = ec.EllipticCurvePublicNumbers(
            number(other["x"]), number(other["y"]), ec.SECP256R1()).public_key()
        prefix = "x-twilio-email-event-webhook-"
        answer = EventWebhook().verify_signature(
            body, fields[prefix + "signature"], fields[prefix + "timestamp"], key)
    elif way == "shopify-query":
        shopify.Session.secret = other["secret"]
        params = dict(urllib.parse.parse_qsl(
            urllib.parse.urlsplit(url).query, keep_blank_values=True))
        if "hmac" not in params:
            answer = shopify.Session.calculate_hmac(params)
        else:
            answer = shopify.Session.validate_params(params)
    answers.append({True: "ok", False: "refused"}.get(answer, answer))
json.dump(answers, sys.stdout)
