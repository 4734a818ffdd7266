"""Signs requests with botocore, and with awscrt as botocore configures it."""
import sys, json, base64, datetime, botocore.auth, botocore.crt.auth
from botocore.crt.auth import (
    CrtSigV4Auth, CrtS3SigV4Auth, CrtSigV4QueryAuth, CrtS3SigV4QueryAuth)
from botocore.auth import SigV4Auth, S3SigV4Auth, SigV4QueryAuth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
answers = []
for item in json.load(sys.stdin):
    other = item["other"]
    now = datetime.datetime.fromtimestamp(int(other["now"]), datetime.timezone.utc)
    botocore.auth.get_current_datetime = lambda: now.replace(tzinfo=None)
    botocore.crt.auth.get_current_datetime = lambda remove_tzinfo=True: now
    credentials = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", other.get("token"))
    place = (credentials, other["service"], other["region"])
    signer = {
        "header": lambda: SigV4Auth(*place), "s3-header": lambda: S3SigV4Auth(*place),
        "query": lambda: SigV4QueryAuth(*place, expires=int(other["lifetime"])),
        "s3-query": lambda: S3SigV4QueryAuth(*place, expires=int(other["lifetime"])),
        "crt-header": lambda: CrtSigV4Auth(*place),
        "crt-s3-header": lambda: CrtS3SigV4Auth(*place),
        "crt-query": lambda: CrtSigV4QueryAuth(*place, expires=int(other["lifetime"])),
        "crt-s3-query":
            lambda: CrtS3SigV4QueryAuth(*place, expires=int(other["lifetime"])),
    }[item["way"]]()
    request = AWSRequest(
        method=item["method"], url="https://" + item["host"] + item["target"],
        headers={f["name"]: f["value"] for f in item["fields"]},
        data=base64.b64decode(item["body"]))
    signer.add_auth(request)
    item["target"] = request.url[len("https://" + item["host"]):]
    item["fields"] = [{"name": n, "value": v} for n, v in request.headers.items()]
    answers.append(item)
json.dump(answers, sys.stdout)
