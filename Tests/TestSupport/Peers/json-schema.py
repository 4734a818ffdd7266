"""Prints which JSON documents are valid by a JSON Schema."""
import sys, json
from jsonschema import Draft202012Validator
task = json.load(sys.stdin)
Draft202012Validator.check_schema(task["schema"])
validator = Draft202012Validator(task["schema"])
json.dump([validator.is_valid(document) for document in task["documents"]], sys.stdout)
