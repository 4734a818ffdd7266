import SignetCrypto
import SignetJSON
import Testing

@testable import SignetVault

/// No type and no error shows a secret: not by interpolation, by reflection or by `dump`.
@Suite struct CanaryTests {
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

    @Test func nothingPrintsASecret() throws {
        let root = [UInt8](repeating: UInt8(ascii: "Z"), count: 32)
        let keys = try keySet(root: root)
        let key = try keys.key(id: "vault-2026")
        let configuration = try shopConfiguration()
        let sealed = try configuration.seal(with: key, for: shop, now: noon)
        let opened = try sealed.open(with: keys, for: shop, now: noon)
        let value = try #require(configuration.value(named: "token"))
        let input = ConfigurationInput.values(["token": "ZZZZZZcanaryZZZZZZ"])
        let subjects: [Any] = [
            configuration, configuration.public, configuration.schema, value, sealed, opened, keys,
            key, input, [configuration], ["c": opened],
        ]
        for subject in subjects {
            let text = prints(subject)
            for canary in ["ZZZZZZ", "WlpaWlpa", "90, 90, 90", "5a5a5a", "5A5A5A"] {
                #expect(!text.contains(canary), "\(type(of: subject))")
            }
        }
        #expect(prints(configuration.public).contains("orders.example.com"))
        #expect(!((configuration as Any) is any Encodable))
        #expect(!((opened as Any) is any Encodable))
    }

    @Test func errorsHoldNoSecret() throws {
        let keys = try keySet(root: [UInt8](repeating: UInt8(ascii: "Z"), count: 32))
        let sealed = try shopDump(keys: keys)
        let parts = Parts(sealed)
        let other = try keySet(root: [UInt8](repeating: 1, count: 32))
        var errors: [VaultError?] = []
        errors.append(error { _ = try sealed.open(with: other, for: shop, now: noon) })
        for part in [2, 4] {
            var bytes = try parts.decoded(part)
            bytes[0] ^= 1
            errors.append(
                error {
                    _ = try SealedDump(parsing: parts.with(part, bytes))
                        .open(with: keys, for: shop, now: noon)
                })
        }
        for error in errors {
            let text = prints(try #require(error))
            for part in [0, 2, 3, 4] { #expect(!text.contains(parts.parts[part])) }
            #expect(!text.contains("ZZZZZZ") && !text.contains("WlpaWlpa"))
        }
    }

    // MARK: - Every place at once

    /// The values that must never be printed: by type, and in the printed forms of bytes and
    /// numbers.
    static let needles = [
        "ZZZZZZ", "zz-canary", "90909", "WlpaWlpa", "90, 90, 90", "5a5a5a", "5A5A5A",
    ]

    static let keys = #"""
        {"host":{"type":"string","visibility":"public"},
         "s.string":{"type":"string","enum":["ZZZZZZstringZZZZZZ"],"pattern":"ZZZZZZ.*"},
         "s.integer":{"type":"integer","minimum":90909,"maximum":9090999},
         "s.number":{"type":"number","minimum":90909.5},
         "s.duration":{"type":"duration","maximum":"90909999s"},
         "s.url":{"type":"url"},"s.bytes":{"type":"bytes"},
         "s.array":{"type":"array","items":{"type":"string","enum":["ZZZZZZ"]}},
         "s.object":{"type":"object","items":{"type":"integer"}}}
        """#
    static let values: JSONObject = [
        "host": "a.example", "s.string": "ZZZZZZstringZZZZZZ", "s.integer": 909_091,
        "s.number": 90909.75,
        "s.duration": "90909s", "s.url": "https://zz-canary.example/ZZZZZZ",
        "s.bytes": "WlpaWlpaWlpa",
        "s.array": ["ZZZZZZ", "ZZZZZZ"], "s.object": ["ZZZZZZ": 909_091],
    ]

    func full() throws -> GlobalConfiguration {
        try GlobalConfiguration(schema: schema(Self.keys), defaults: .values(Self.values))
    }

    func expectNothing(in value: Any, _ place: String) {
        let text = prints(value)
        for needle in Self.needles {
            #expect(!text.contains(needle), "\(place): \(type(of: value)) shows \(needle)")
        }
    }

    @Test func noTypeShowsASecretOfAnyType() throws {
        let configuration = try full()
        let live = LiveConfiguration(configuration)
        var reader = live.snapshots.makeAsyncIterator()
        _ = reader
        reader = live.snapshots.makeAsyncIterator()
        let bytes = [UInt8](repeating: UInt8(ascii: "Z"), count: 32)
        let set = try keySet(root: bytes)
        let passphrase = Passphrase(copying: bytes.span)
        let sealed = try configuration.seal(
            with: set.key(id: "vault-2026"), for: shop, now: noon)
        let opened = try sealed.open(with: set, for: shop, now: noon)
        let json = JSONValue.object(Self.values).serialized()
        let rules = configuration.schema.rules
        let subjects: [Any] = [
            configuration, configuration.public, configuration.schema, live, live.current,
            live.public, live.snapshots, reader, passphrase, VaultKeys.keys(set),
            VaultKeys.passphrase(passphrase), DumpFile("/nowhere/dump"), opened, sealed, set,
            DumpContents(configuration), DumpContents(opened),
            configuration.schema.descriptions, configuration.schema.findings,
            configuration.public.entries, rules, rules.map(\.description),
            configuration.schema.keys.compactMap { configuration.value(named: $0) },
            ConfigurationInput.values(Self.values), ConfigurationInput.json(json),
            ConfigurationInput.texts(["s.string=ZZZZZZstringZZZZZZ"]),
            ConfigurationInput.environment(
                prefix: "ZQ_", variables: ["ZQ_S_STRING": "ZZZZZZstringZZZZZZ"]),
            ConfigurationInput.joined([.json(json), .texts(["s.string=ZZZZZZ"])]),
            try configuration.changing(.launch, with: ["s.string": "ZZZZZZstringZZZZZZ"]),
            try configuration.replacing(.launch, with: .values(Self.values)),
            ConfigurationKey<String, SecretValue>("s.string"),
        ]
        for subject in subjects {
            expectNothing(in: subject, "a value")
            expectNothing(in: [subject], "a list")
            expectNothing(in: Optional(subject) as Any, "an optional")
            if !(subject is PublicView), !(subject is [Any]), !(subject is DumpFile) {
                #expect(!(subject is any Encodable), "\(type(of: subject)) can be encoded")
            }
        }
        expectNothing(
            in: String(
                decoding: try StrictJSONEncoder().encode(configuration.public), as: UTF8.self),
            "JSON")
    }

    /// Each key with a value that its rule refuses, and each way in which an input can be broken.
    @Test func noErrorShowsWhatItRefuses() throws {
        let schema = try schema(Self.keys)
        let set = try keySet()
        var errors: [VaultError?] = []
        let wrong: [JSONValue] = [
            "ZZZZZZwrongZZZZZZ", 90909, 90909.25, ["ZZZZZZ", 90909], ["ZZZZZZ": "ZZZZZZ"], nil,
            true,
            .string("ZZZZZZ" + SecretDetectorTests.pem),
        ]
        for name in schema.keys {
            for value in wrong {
                let values: JSONObject = [name: value]
                let text = JSONValue.object(values).serialized()
                let variable = "ZQ_" + name.uppercased().replacing(".", with: "_")
                let inputs: [ConfigurationInput] = [
                    .values(values), .json(text), .texts(["\(name)=\(value.text)"]),
                    .environment(prefix: "ZQ_", variables: [variable: "{\(value.text)"]),
                ]
                for input in inputs {
                    errors.append(
                        error {
                            _ = try GlobalConfiguration(
                                schema: schema, defaults: .none, launch: input)
                        })
                    errors.append(
                        error {
                            _ = try GlobalConfiguration(
                                schema: schema, defaults: .none, fetched: input)
                        })
                }
                let configuration = try full()
                errors.append(error { _ = try configuration.changing(.launch, with: values) })
                let live = LiveConfiguration(configuration)
                errors.append(error { try live.set(launch: values) })
            }
        }
        for text in [
            "ZZZZZZ", #"{"ZZZZZZ"#, #"{"s.string":"ZZZZZZ" "ZZZZZZ"}"#,
            #"{"s.string":"ZZZZZZ","s.string":"ZZZZZZ"}"#,
            #"{"s.integer":90909.}"#, #"["ZZZZZZ"]"#, #"{"s.string":"ZZZZZZ\x"}"#,
            #"{"s.array":["ZZZZZZ",]}"#,
        ] {
            errors.append(
                error { _ = try GlobalConfiguration(schema: schema, defaults: json(text)) })
        }
        errors.append(
            error {
                _ = try GlobalConfiguration(
                    schema: schema, defaults: .none,
                    launch: .texts(["ZZZZZZwithout an equals sign"]))
            })
        // A dump that is restored under another schema.
        let sealed = try full().seal(with: set.key(id: "vault-2026"), for: shop, now: noon)
        let opened = try sealed.open(with: set, for: shop, now: noon)
        for type in ["boolean", "array", "string", "integer"] {
            for name in schema.keys {
                let keys = #"{"\#(name)":{"type":"\#(type)","enum":[]}}"#
                errors.append(error { _ = try SignetVaultTests.schema(keys) })
                let other = try SignetVaultTests.schema(
                    Self.keys.replacing(#""\#(name)":{"#, with: #""\#(name)":{"setBy":["launch"],"#)
                )
                errors.append(
                    error { _ = try GlobalConfiguration(restoring: opened, schema: other) })
            }
        }
        errors.append(
            error {
                _ = try GlobalConfiguration(
                    restoring: opened, schema: SignetVaultTests.schema(#"{"a":{"type":"string"}}"#))
            })
        let thrown = errors.compactMap { $0 }
        #expect(thrown.count > 400)
        for error in thrown { expectNothing(in: error, error.code.name) }
    }
}
