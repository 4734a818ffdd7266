import Foundation
import SignetBase
import SignetClient
import SignetTransport
import TestSupport
import Testing

/// Texts of errors for the people who use a program.
@Suite struct ErrorTextTests {
    private static func error(
        _ code: ClientError.Code, status: Int? = nil
    ) async throws -> ClientError {
        let engine = RecordingEngine(responses: [
            status.map { .init(status: $0, body: "{}") }
                ?? .init(failure: TransportError(.connect, "down"))
        ])
        let system = try await Pipeline.system(engine) { $0.clock.sleep = { _ in } }
        let response = await system.response(to: .get("/x", on: "a"))
        await system.shutdown()
        guard case .failure(let error) = response.result else { throw CancellationError() }
        return error
    }

    /// The texts of the transport's codes don't blame the network for the server.
    @Test(.features("002-09", "002-10")) func eachCodeHasAText() {
        let texts = ErrorTexts.english
        for code in [
            ClientError.Code.offline, .unresolvedHost, .connect, .timeout, .cutOff, .tls, .rpcError,
            .malformedResponse, .conversionFailed, .invalidParameters, .wrongKey,
        ] {
            #expect(texts[code].count > 10 && texts[code].last == ".")
        }
        let network: [ClientError.Code] = [
            .offline, .unresolvedHost, .connect, .timeout, .cutOff, .tls,
        ]
        #expect(Set(network.map { texts[$0] }).count == network.count)
        #expect(texts[.offline].contains("network"))
        for code in network.dropFirst() { #expect(!texts[code].contains("network")) }
        // The server's fault and the program's.
        #expect(texts[.malformedResponse] != texts[.conversionFailed])
    }

    /// Every code that a module exports has a text, its own or that of its kind.
    @Test(.features("002-10")) func everyExportedCodeHasAText() throws {
        let files = try #require(
            FileManager.default.enumerator(
                at: PackageLayout.url("Sources"), includingPropertiesForKeys: nil))
        var codes: [ClientError.Code] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            codes += text.split(separator: "public static let ").dropFirst().compactMap(Self.code)
        }
        #expect(codes.count > 100 && Set(codes).count == codes.count)
        #expect(Set(codes).isSuperset(of: [.replaced, .offline, .pinMismatch, .httpStatus]))
        for code in codes {
            let text = ErrorTexts.english[code]
            #expect(text.utf8.count > 10 && text.last == ".", "\(code)")
        }
    }

    /// The code that a declaration such as `offline = noResponse("offline", kind: .refused)` makes.
    private static func code(of declaration: Substring) -> ClientError.Code? {
        let words = declaration.prefix { $0 != ")" }.split { " (\n,=:.\"".contains($0) }
        guard words.count > 2 else { return nil }
        let name = String(words[2])
        let kind = words.count > 4 ? kinds[String(words[4])] ?? .local : .local
        switch words[1] {
        case "noResponse": return .noResponse(name, kind: kind)
        case "usage": return .usage(name, kind: kind)
        case "checkFailed": return .checkFailed(name, kind: kind)
        default: return nil
        }
    }

    private static let kinds: [String: ClientError.Kind] = [
        "noResponse": .noResponse, "refused": .refused, "malformed": .malformed, "local": .local,
    ]

    @Test(arguments: [401, 403, 404, 429, 500, 503])
    func aStatusHasATextOfItsOwn(_ status: Int) async throws {
        let error = try await Self.error(.httpStatus, status: status)
        let text = ErrorTexts.english.text(for: error)
        #expect(text != ErrorTexts.english[.httpStatus])
        let other = try await Self.error(.httpStatus, status: 418)
        #expect(ErrorTexts.english.text(for: other) == ErrorTexts.english[.httpStatus])
    }

    @Test func aProgramReplacesThem() async throws {
        var texts = ErrorTexts.english
        texts[.connect] = "Der Server antwortet nicht."
        let error = try await Self.error(.connect)
        #expect(texts.text(for: error) == "Der Server antwortet nicht.")
        let own = ErrorTexts(
            [:], noResponse: "a", refused: "b", malformed: "c", local: "d")
        #expect(
            [own[.connect], own[.rpcError], own[.typeMismatch], own[.cancelled]]
                == ["a", "b", "c", "d"])
    }
}
