#if Tool
extension DocumentSchemas {
    /// A configuration's schema.
    static let configuration = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:signet:configuration-schema:1",
          "title": "The schema of a configuration of Signet",
          "description": "The keys that a configuration may have. `signet vault public` and `signet vault seal` read it, and check also what this schema cannot: that a minimum is below its maximum, that a pattern is supported, and that a listed value passes the rest of its rule.",
          "type": "object",
          "additionalProperties": false,
          "required": ["keys"],
          "properties": {
            "keys": {
              "description": "The rules by key. Dots in a key have no meaning.",
              "type": "object",
              "propertyNames": {"minLength": 1, "maxLength": 255},
              "additionalProperties": {
                "$ref": "#/$defs/limits",
                "properties": {
                  "visibility": {
                    "description": "Whether the value may be seen outside of the sealed dump.",
                    "enum": ["public", "secret"],
                    "default": "secret"
                  },
                  "setBy": {
                    "description": "The inputs that may set the value.",
                    "type": "array",
                    "minItems": 1,
                    "uniqueItems": true,
                    "items": {"enum": ["defaults", "launch", "fetched"]},
                    "default": ["defaults", "launch", "fetched"]
                  },
                  "meaning": {"description": "The key's meaning, for people.", "type": "string"},
                  "notSecret": {
                    "description": "Says that random text is allowed in this public key.",
                    "const": true
                  },
                  "required": {
                    "description": "Says that a configuration without a value for this key is not sealed.",
                    "const": true
                  }
                },
                "if": {"required": ["notSecret"]},
                "then": {
                  "required": ["visibility"],
                  "properties": {"visibility": {"const": "public"}}
                },
                "unevaluatedProperties": false
              }
            }
          },
          "$defs": {
            "items": {"$ref": "#/$defs/limits", "unevaluatedProperties": false},
            "limits": {
              "type": "object",
              "required": ["type"],
              "properties": {
                "type": {
                  "description": "The type of the value.",
                  "enum": [
                    "string", "integer", "number", "boolean", "array", "object", "duration", "url",
                    "bytes"
                  ]
                },
                "minimum": {"description": "The smallest value, of the key's type."},
                "maximum": {"description": "The largest value, of the key's type."},
                "minLength": {"$ref": "#/$defs/count"},
                "maxLength": {"$ref": "#/$defs/count"},
                "minItems": {"$ref": "#/$defs/count"},
                "maxItems": {"$ref": "#/$defs/count"},
                "minProperties": {"$ref": "#/$defs/count"},
                "maxProperties": {"$ref": "#/$defs/count"},
                "pattern": {
                  "description": "A regular expression that the whole value must match.",
                  "type": "string"
                },
                "enum": {
                  "description": "The allowed values.",
                  "type": "array",
                  "minItems": 1,
                  "uniqueItems": true
                },
                "items": {
                  "description": "The rule of each element of an array, or of each value of an object.",
                  "$ref": "#/$defs/items"
                }
              },
              "allOf": [
                {
                  "if": {"properties": {"type": {"const": "integer"}}},
                  "then": {
                    "properties": {"minimum": {"type": "integer"}, "maximum": {"type": "integer"}}
                  }
                },
                {
                  "if": {"properties": {"type": {"const": "number"}}},
                  "then": {
                    "properties": {"minimum": {"type": "number"}, "maximum": {"type": "number"}}
                  }
                },
                {
                  "if": {"properties": {"type": {"const": "duration"}}},
                  "then": {
                    "properties": {
                      "minimum": {"$ref": "#/$defs/duration"},
                      "maximum": {"$ref": "#/$defs/duration"}
                    }
                  }
                },
                {
                  "if": {"properties": {"type": {"enum": ["integer", "number", "duration"]}}},
                  "else": {"properties": {"minimum": false, "maximum": false}}
                },
                {
                  "if": {"properties": {"type": {"enum": ["string", "url", "bytes"]}}},
                  "else": {"properties": {"minLength": false, "maxLength": false}}
                },
                {
                  "if": {"properties": {"type": {"enum": ["string", "url"]}}},
                  "else": {"properties": {"pattern": false}}
                },
                {
                  "if": {"properties": {"type": {"const": "array"}}},
                  "else": {"properties": {"minItems": false, "maxItems": false}}
                },
                {
                  "if": {"properties": {"type": {"const": "object"}}},
                  "else": {"properties": {"minProperties": false, "maxProperties": false}}
                },
                {
                  "if": {"properties": {"type": {"enum": ["array", "object"]}}},
                  "else": {"properties": {"items": false}}
                }
              ]
            },
            "count": {"type": "integer", "minimum": 0},
            "duration": {
              "description": "Seconds as a number, or a text such as 250ms, 1.5s or 1h30m.",
              "anyOf": [
                {"type": "number", "minimum": 0},
                {
                  "type": "string",
                  "pattern": "^([0-9]{1,18}(\\.[0-9]{1,18})?(ns|us|ms|s|m|h|d))+$"
                }
              ]
            }
          }
        }
        """#
}
#endif
