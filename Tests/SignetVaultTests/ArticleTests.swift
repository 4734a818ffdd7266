import Foundation
import SignetJSON
import SignetVault
import TestSupport
import Testing

extension ConfigurationKey where Value == Duration, Visibility == PublicValue {
    static let ordersTimeout = Self("services.orders.timeout")
}

extension ConfigurationKey where Value == String, Visibility == SecretValue {
    static let ordersToken = Self("services.orders.token")
}

/// The code of the article "A configuration in Swift", exactly as the article shows it.
@Suite struct ArticleTests {
    private static func blocks(in language: String) throws -> [[Substring]] {
        try Article("Sources/SignetVault/SignetVault.docc/A-configuration-in-Swift.md")
            .blocks(in: language)
    }

    @Test func theSessionWorks() throws {
        let directory = try TemporaryDirectory()
        let folder = directory.url.path(percentEncoded: false)
        let schemaText = try #require(Self.blocks(in: "json").first)
        try directory.write(Array(schemaText.joined().utf8), to: "schema.json")
        try directory.write(
            Array(#"{"services.orders.timeout":"5s","services.orders.token":"t"}"#.utf8),
            to: "defaults.json")
        let root = String(repeating: "A", count: 43)
        let keySet = #"{"keys":[{"kty":"oct","kid":"vault-2026","use":"enc","k":"\#(root)"}]}"#
        try directory.write(Array(keySet.utf8), to: "keys")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder + "/keys")

        let schema = try Schema(contentsOf: "\(folder)/schema.json")
        let configuration = try GlobalConfiguration(
            schema: schema, defaults: .file("\(folder)/defaults.json"),
            launch: .environment(prefix: "SHOP_"), requiring: .ordersTimeout)
        let timeout = configuration.public[.ordersTimeout]
        #expect(timeout == .seconds(5))

        let length = try configuration.withSecret(.ordersToken) { token in token.count }
        #expect(length == 1)
        let token: String = try configuration.copyOfSecret(.ordersToken)
        struct Orders: Decodable { var timeout: Duration, token: String }
        let orders = try configuration.copyOfValues(as: Orders.self, at: "services.orders")
        #expect(token == "t" && orders.token == "t" && orders.timeout == .seconds(5))

        let keys = VaultKeys.keys(try KeySource("\(folder)/keys").load())
        let running = VersionBinding(app: "com.example.shop", version: "1.4.2")
        let dump = DumpFile("\(folder)/shop.dump", state: "\(folder)/shop.seen")
        try dump.seal(configuration, with: keys, for: running)

        let opened = try dump.open(with: keys, for: running)
        let restored = try GlobalConfiguration(
            restoring: opened, schema: schema, requiring: .ordersTimeout)
        #expect(restored.public[.ordersTimeout] == .seconds(5))

        let upgraded = VersionBinding(app: "com.example.shop", version: "1.5.0")
        try dump.rebind(with: keys, from: running, to: upgraded)
        #expect(code { _ = try dump.open(with: keys, for: running) } == "newer-version")

        let live = LiveConfiguration(restored)
        try live.set(launch: ["services.orders.timeout": "500ms"])
        try dump.seal(live.current, with: keys, for: upgraded)
        let last = try dump.open(with: keys, for: upgraded)
        #expect(last.sequence == 3)
        #expect(
            try GlobalConfiguration(restoring: last, schema: schema).public[.ordersTimeout]
                == .milliseconds(500))
    }

    /// Every word of the article's code is in this file, in the same order.
    @Test func theArticleShowsThisCode() throws {
        func words(_ text: String) -> [Substring] { text.split { $0.isWhitespace } }
        let source = words(try String(contentsOfFile: #filePath, encoding: .utf8))
            .joined(separator: " ")
        let blocks = try Self.blocks(in: "swift")
        #expect(blocks.count == 9)
        var rest = source[...]
        for block in blocks {
            let code = words(block.joined(separator: "\n")).joined(separator: " ")
            // The extensions are above the suite.
            if code.hasPrefix("extension") {
                #expect(source.contains(code))
                continue
            }
            let range = try #require(rest.range(of: code), "\(code)")
            rest = rest[range.upperBound...]
        }
    }
}
