"""Intercepts the requests that Tencent Cloud's SDK signs and sends."""
import sys, json, base64, time
from tencentcloud.common.abstract_client import AbstractClient
from tencentcloud.common.credential import Credential
from tencentcloud.common.profile.client_profile import ClientProfile
class Taken(Exception): pass
class Stub:
    def send_request(self, request): raise Taken(request)
answers = []
for item in json.load(sys.stdin):
    other, body = item["other"], base64.b64decode(item["body"])
    time.time = lambda: int(other["now"])
    profile = ClientProfile(signMethod="TC3-HMAC-SHA256")
    profile.httpProfile.endpoint = item["host"]
    profile.httpProfile.reqMethod = item["method"]
    client = AbstractClient(
        Credential("AKIDEXAMPLE", other["secret"], other.get("token")), "ap-guangzhou", profile)
    client._apiVersion, client._service = "2017-03-12", other["service"]
    client.request = Stub()
    try:
        if item["way"] == "bytes": client.call_octet_stream("RunJob", {}, body)
        else: client.call_json("describeZones", json.loads(body))
    except Taken as taken:
        request = taken.args[0]
        data = request.data if isinstance(request.data, bytes) else request.data.encode()
        isGet = request.method == "GET"
        item["target"] = request.uri + ("?" + data.decode() if isGet and data else "")
        item["body"] = base64.b64encode(b"" if isGet else data).decode()
        item["fields"] = [
            {"name": n, "value": v} for n, v in request.header.items() if n != "Host"]
        answers.append(item)
json.dump(answers, sys.stdout)
