import Foundation
import HTTPTypes
import SignetClient
import SignetCrypto
import SignetJSON
import SignetVault
import TestSupport
import Testing

/// The configuration of `Examples/shop` against the system that reads it.
@Suite struct ShopExampleTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: PackageLayout.url(path), encoding: .utf8)
    }

    /// The keys of the article's tables, as regular expressions.
    private static func knownKeys() throws -> [Regex<Substring>] {
        let article = try text("Sources/SignetClient/SignetClient.docc/ConfigurationKeys.md")
        return try article.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { line in
            try line.dropFirst().prefix { $0 != "|" }.matches(of: /`([^`]+)`/).map { match in
                let key = match.1.hasPrefix(".") ? "services.NAME\(match.1)" : String(match.1)
                let pattern = key.replacing(".", with: "\\.").replacing("NAME", with: "[^.]+")
                    .replacing("SCENARIO", with: "[^.]+")
                return try Regex(pattern, as: Substring.self)
            }
        }
    }

    /// The shop's defaults with the pins of its host, as a program delivers them.
    private static func system(_ engine: RecordingEngine) async throws -> NetworkSystem {
        guard
            case .object(var defaults) = try JSONValue(
                parsing: Array(text("Examples/shop/defaults.json").utf8))
        else { throw TestSupportError("the defaults are no object") }
        let pin = "sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
        defaults["services.orders.pins"] = [.string(pin)]
        defaults["services.catalog.pins"] = [.string(pin)]
        let key =
            #"{"kty":"oct","use":"sig","alg":"HS256","kid":"orders-2026","k":"\#(String(repeating: "A", count: 43))"}"#
        var options = NetworkSystem.Options()
        options.engine = engine
        return try await NetworkSystem.start(
            GlobalConfiguration(schema: Shop.schema(), defaults: .values(defaults)),
            keys: KeySet(parsing: Array(#"{"keys":[\#(key)]}"#.utf8), source: "test"),
            options: options)
    }

    @Test func theSystemReadsEveryKeyButThoseOfTheProgram() throws {
        let known = try Self.knownKeys()
        #expect(known.count > 30)
        let unread = try Shop.schema().keys.filter { key in
            !key.hasPrefix("partner.") && !known.contains { key.wholeMatch(of: $0) != nil }
        }
        #expect(unread == [])
    }

    /// The pins come with the program, so that it starts without fetched values.
    @Test(.features("004-20")) func itStartsWithoutFetchedValues() async throws {
        let engine = RecordingEngine(responses: [.init(body: "{}")])
        let system = try await Self.system(engine)
        _ = try await system.call(RESTRequest(.get, "/orders/7"), on: "catalog")
        #expect(engine.requests.first?.policy?.rules.map(\.pins.count) == [1])
        await system.shutdown()
    }

    @Test func itsURLRulesAllowItsServices() async throws {
        let engine = RecordingEngine(responses: [.init(body: "{}")])
        let system = try await Self.system(engine)
        for (service, target) in [
            ("orders", "/rpc"), ("catalog", "/orders"), ("catalog", "/orders/7"),
            ("catalog.cdn", "/pictures/tea.jpg"), ("catalog.cdn", "/pictures/2026/tea.jpg?w=2"),
        ] as [(ServiceName, String)] {
            _ = try await system.exchange(
                service, method: .post, target: target,
                fields: [.contentType: "application/json"], body: Array("{}".utf8))
        }
        #expect(engine.count == 5)
        for target in [
            "/", "/pictures", "/pictures/", "/picture/tea.jpg", "/pictures/../rpc",
            "/pictures/tea.jpg?token=1", "/orders/tea", "/rpc/",
        ] {
            let code = await Pipeline.code { () async throws(ClientError) in
                try await system.exchange(
                    "catalog.cdn", method: .get, target: target, fields: [:], body: [])
            }
            #expect(code == .refusedURL, "\(target)")
        }
        #expect(engine.count == 5)
        await system.shutdown()
    }
}
