#if Tool
extension DocumentSchemas {
    /// The project file.
    static let project = #"""
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "$id": "urn:signet:project:1",
          "title": "A project file of Signet (signet.json)",
          "description": "Fills in options that were not given. Relative paths count from the file's folder. It names sources of secrets and holds none.",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "app": {
              "description": "The app that dumps are bound to.",
              "type": "object",
              "additionalProperties": false,
              "required": ["id", "version"],
              "properties": {
                "id": {"description": "Such as com.example.shop.", "$ref": "#/$defs/text"},
                "version": {"description": "The running app's version.", "$ref": "#/$defs/text"}
              }
            },
            "system": {
              "description": "The network system that dumps are bound to.",
              "type": "object",
              "additionalProperties": false,
              "required": ["version"],
              "properties": {"version": {"$ref": "#/$defs/text"}}
            },
            "systemVersion": {"description": "The same as system.version, which may not be given too.", "deprecated": true, "$ref": "#/$defs/text"},
            "keys": {"description": "The source of the key set: a file or credential:NAME; env:NAME only in a file that is named.", "$ref": "#/$defs/source"},
            "keyID": {"description": "The id of the key that seals.", "$ref": "#/$defs/text"},
            "passphrase": {"description": "The source of the passphrase that opens the dump in place of keys.", "$ref": "#/$defs/source"},
            "schema": {"description": "The configuration's schema, a file.", "$ref": "#/$defs/text"},
            "defaults": {"description": "The built-in values, a file.", "$ref": "#/$defs/text"},
            "dump": {"description": "The sealed dump, a file.", "$ref": "#/$defs/text"},
            "state": {"description": "The file of the highest sequences seen.", "$ref": "#/$defs/text"},
            "lastGood": {"description": "The sealed dump of the last good fetched values, for self-check.", "$ref": "#/$defs/text"},
            "policy": {"description": "The pin policy, a file.", "$ref": "#/$defs/text"},
            "scheme": {"description": "The signing scheme: a built-in name, or a document's file, with a dot or a slash in its name.", "$ref": "#/$defs/text"},
            "caFile": {"description": "A PEM file of the CAs that are trusted in place of the system's, for self-check.", "$ref": "#/$defs/text"},
            "connectTo": {
              "description": "Other addresses of hosts, for self-check.",
              "type": "array",
              "items": {"description": "HOST:PORT:ADDRESS:PORT", "$ref": "#/$defs/text"}
            }
          },
          "not": {"required": ["system", "systemVersion"]},
          "$defs": {
            "text": {"type": "string", "minLength": 1},
            "source": {"type": "string", "minLength": 1, "not": {"pattern": "^(command|fd):"}}
          }
        }
        """#
}
#endif
