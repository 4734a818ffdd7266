import SignetCrypto
import SignetJSON
import Testing

@testable import SignetVault

/// No secret can be had by interpolation, reflection, `dump` or errors.
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
        let input = ConfigurationInput.values(["token": "ZZcanaryZZ"])
        let subjects: [Any] = [
            configuration, configuration.public, configuration.schema, value, sealed, opened, keys,
            key, input, [configuration], ["c": opened],
        ]
        for subject in subjects {
            let text = prints(subject)
            for canary in ["ZZ", "WlpaW", "90, 90", "5a5a", "5A5A"] {
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
            #expect(!text.contains("ZZ") && !text.contains("WlpaW"))
        }
    }
}
