"""Signs the events that have no signature, and verifies the others, with standardwebhooks and stripe."""
import sys, json, base64, datetime, time
import standardwebhooks.webhooks as standard, stripe
now = 1795228551
class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None): return cls.fromtimestamp(now, tz)
standard.datetime = Clock
time.time = lambda: now
utc = datetime.timezone.utc
def name(item, field):
    return {f["name"].lower(): f["value"] for f in item["fields"]}.get(field)
answers = []
for item in json.load(sys.stdin):
    body = base64.b64decode(item["body"]).decode()
    other, secret = item["other"], item["other"]["secret"]
    at = int(other.get("now", now))
    if item["way"] == "standard-webhooks":
        if name(item, "webhook-signature") is None:
            answers.append(standard.Webhook(secret).sign(
                other["id"], datetime.datetime.fromtimestamp(at, utc), body))
            continue
        try:
            fields = {f["name"]: f["value"] for f in item["fields"]}
            standard.Webhook(secret).verify(body, fields, json_parse=False)
            answers.append("ok")
        except standard.WebhookVerificationError:
            answers.append("refused")
    elif name(item, "stripe-signature") is None:
        answers.append(stripe.WebhookSignature.generate_signature_header(body, secret, at))
    else:
        try:
            event = stripe.Webhook.construct_event(
                body, name(item, "stripe-signature"), secret)
            answers.append("ok " + event.id)
        except stripe.SignatureVerificationError:
            answers.append("refused")
json.dump(answers, sys.stdout)
