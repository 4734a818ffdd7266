"""Signs a received request with botocore, and prints the signature."""
import sys, datetime, urllib.parse, botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
head, body = sys.stdin.buffer.read().split(b"\r\n\r\n", 1)
lines = head.decode().split("\r\n")
method, target, _ = lines[0].split(" ")
fields = dict(line.split(": ", 1) for line in lines[1:])
lower = {name.lower(): value for name, value in fields.items()}
presigned = "X-Amz-Signature=" in target
stamp = lower.get("x-amz-date") or urllib.parse.parse_qs(target)["X-Amz-Date"][0]
now = datetime.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ")
botocore.auth.get_current_datetime = lambda: now
key = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    lower.get("x-amz-security-token"))
place = (key, "execute-api", "eu-central-1")
made = ("authorization", "x-amz-date", "x-amz-security-token", "x-amz-content-sha256")
skipped = made + ("host", "content-length")
kept = {n: v for n, v in fields.items() if n.lower() not in skipped}
before = target.split("&X-Amz-Algorithm")[0]
request = AWSRequest(method=method, url="http://" + lower["host"] + before,
    headers=kept, data=body)
if presigned:
    class Signer(botocore.auth.SigV4QueryAuth):
        def payload(self, request):
            return botocore.auth.SigV4Auth.payload(self, request)
    # Its presigned URLs have the body's fields in the query; ours has them in the body.
    request.data = body.decode()
    signer = Signer(*place, expires=3600)
else:
    signer = botocore.auth.SigV4Auth(*place)
signer.add_auth(request)
print(urllib.parse.parse_qs(request.url)["X-Amz-Signature"][0] if presigned
    else request.headers["Authorization"])
