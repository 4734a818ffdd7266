import Foundation
import SignetConfiguration
import SignetJSON
import SignetVault
import Testing

/// A schema from its keys' JSON.
func schema(_ keys: String) throws -> Schema {
    try Schema(parsing: Array(#"{"keys":\#(keys)}"#.utf8))
}

/// A configuration of defaults, all keys public.
func publicConfiguration(_ types: JSONObject, _ values: JSONObject) throws -> GlobalConfiguration {
    var keys = JSONObject()
    for (name, type) in types { keys[name] = ["type": type, "visibility": "public"] }
    return try GlobalConfiguration(
        schema: Schema(JSONValue.object(["keys": .object(keys)])), defaults: .values(values))
}

/// Noon of 2026-11-21.
let noon: Int64 = 1_795_262_400
let canary = "ZZZZZZcanaryZZZZZZ"
let shop = VersionBinding(app: "com.example.shop", version: "1.4.2", systemVersion: "0.1.0")

/// The keys of the shop's configuration: a host, a number, and a secret.
func shopSchema() throws -> Schema {
    try schema(
        #"""
        {"orders.host":{"type":"string","visibility":"public"},
         "orders.limit":{"type":"integer","visibility":"public"},
         "token":{"type":"string","enum":["\#(canary)"]}}
        """#)
}

func shopConfiguration(host: String = "orders.example.com") throws -> GlobalConfiguration {
    try GlobalConfiguration(
        schema: shopSchema(),
        defaults: .values([
            "orders.host": .string(host), "orders.limit": 7, "token": .string(canary),
        ]))
}

/// A key set with one vault root.
func keySet(
    _ id: String = "vault-2026", byte: UInt8 = 0x5a, more: JSONObject = [:]
) throws -> KeySet {
    let root = Data(repeating: byte, count: 32).base64EncodedString()
        .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    var key: JSONObject = ["kty": "oct", "kid": .string(id), "use": "enc", "k": .string(root)]
    for (name, value) in more { key[name] = value }
    let set: JSONValue = ["keys": [.object(key)]]
    return try KeySet(parsing: set.serialized(), source: "test")
}

/// A file that goes with the object.
final class TemporaryFile: Sendable {
    let path: String

    /// A place for a file; `bytes` are written there unless nil.
    init(_ bytes: [UInt8]? = nil) throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "signet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.appending(path: "dump").path(percentEncoded: false)
        if let bytes { try Data(bytes).write(to: URL(filePath: path)) }
    }

    deinit {
        try? FileManager.default.removeItem(at: URL(filePath: path).deletingLastPathComponent())
    }
}

/// The bytes of a dump of the shop's configuration.
func shopDump(
    _ binding: VersionBinding = shop, keyID: String = "vault-2026"
) throws -> [UInt8] {
    let file = try TemporaryFile()
    try DumpFile(file.path).seal(
        shopConfiguration(), with: .keys(keySet(keyID)), for: binding, now: noon)
    return [UInt8](try Data(contentsOf: URL(filePath: file.path)))
}

/// Everything that printing, reflecting and dumping show.
func prints(_ value: Any) -> String {
    var text = "\(value)" + String(reflecting: value)
    dump(value, to: &text)
    var mirrors = [Mirror(reflecting: value)]
    while let mirror = mirrors.popLast() {
        for child in mirror.children {
            text += "\(child.label ?? "")\(child.value)"
            mirrors.append(Mirror(reflecting: child.value))
        }
    }
    return text
}
