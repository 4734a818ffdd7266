#if Tool
extension DocumentSchemas {
    /// A pin policy.
    static let pinPolicy = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:signet:pin-policy:1",
          "title": "A pin policy of Signet",
          "description": "The public keys that hosts may have. `signet pins check` and --policy read it; `signet pins lint` also checks what this schema cannot.",
          "type": "object",
          "additionalProperties": false,
          "required": ["hosts"],
          "properties": {
            "hosts": {
              "description": "Rules by host: a host, *.HOST (one label below it) or **.HOST (the host and everything below it).",
              "type": "object",
              "propertyNames": {"pattern": "^(\\*{1,2}\\.)?[^/@*\\\\\\s]+$"},
              "additionalProperties": {"$ref": "#/$defs/rule"}
            },
            "unlisted": {
              "description": "The treatment of a host without a rule.",
              "enum": ["refuse", "allow"],
              "default": "refuse"
            }
          },
          "$defs": {
            "rule": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "pins": {
                  "description": "The keys, any of which must be in the verified chain; two or more, so that one can be replaced.",
                  "type": "array",
                  "minItems": 1,
                  "items": {"$ref": "#/$defs/pin"}
                },
                "includeSubdomains": {
                  "description": "Whether the rule is for everything below the host too.",
                  "type": "boolean",
                  "default": false
                },
                "expires": {
                  "description": "The last day of the rule.",
                  "type": "string",
                  "pattern": "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
                },
                "afterExpiry": {
                  "description": "Whether a call is refused after that day, or CA and host name decide alone.",
                  "enum": ["refuse", "allow"],
                  "default": "refuse"
                },
                "mode": {
                  "description": "Whether a mismatch is refused, or only reported.",
                  "enum": ["enforce", "report"],
                  "default": "enforce"
                },
                "exclude": {
                  "description": "Takes the host out of a wider rule.",
                  "type": "boolean"
                },
                "caFile": {
                  "description": "A PEM file of CAs for these hosts.",
                  "type": "string",
                  "minLength": 1
                },
                "caMode": {
                  "description": "Whether those CAs are trusted instead of the others, or in addition to them.",
                  "enum": ["replace", "add"],
                  "default": "replace"
                }
              },
              "dependentRequired": {"caMode": ["caFile"]},
              "if": {"required": ["exclude"], "properties": {"exclude": {"const": true}}},
              "then": {
                "properties": {"pins": false, "expires": false, "afterExpiry": false, "mode": false}
              },
              "else": {"required": ["pins"]}
            },
            "pin": {
              "description": "SHA-256 of a public key (SubjectPublicKeyInfo, DER), as `signet pins show` prints it.",
              "type": "string",
              "pattern": "^sha256/[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$"
            }
          }
        }
        """#
}
#endif
