"""Reads a Secret of Kubernetes, and prints its kind and its decoded values."""
import base64, json, sys, yaml
document = yaml.safe_load(sys.stdin.buffer.read())
values = {k: base64.b64decode(v, validate=True).decode() for k, v in document["data"].items()}
print(json.dumps([document["apiVersion"], document["kind"], document["metadata"]["name"], values]))
