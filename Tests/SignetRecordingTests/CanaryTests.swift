import Foundation
import HTTPTypes
import Logging
import SignetClient
import SignetCrypto
import SignetJSON
import SignetStorage
import SignetTesting
import SignetTransport
import SignetVault
import Synchronization
import TestSupport
import Testing

@testable import SignetRecording

/// 200 secrets of 12 kinds pass through many calls, and no byte of them is kept.
@Suite struct CanaryTests {
    /// The calls: `SIGNET_CANARY_CALLS`, else 10,000 with SIGNET_SOAK.
    private static let callCount =
        ProcessInfo.processInfo.environment["SIGNET_CANARY_CALLS"].flatMap { Int($0) }
        ?? (ProcessInfo.processInfo.environment["SIGNET_SOAK"] != nil ? 10_000 : 400)

    /// The places of secrets.
    enum Kind: CaseIterable {
        case bearer, basic, apiKeyField, cookie, setCookie, query, userInfo, deepMember, formField,
            multipartPart, tokenInText, schemaSecret
    }

    struct Canary: Sendable {
        let kind: Kind
        let text: String
        /// The forms in which the secret may appear.
        var forms: [[UInt8]] {
            let bytes = Array(text.utf8)
            return [
                bytes, Array(Base64.encode(bytes, as: .standard).utf8.dropLast(4)),
                bytes.hexadecimal(),
                Array(
                    Base64.encode(Array("user:\(text)".utf8), as: .standard).utf8.dropFirst(8)
                        .dropLast(4)),
            ]
        }
    }

    private static let canaries: [Canary] = {
        var random = SplitMix(seed: 37)
        let letters = Array("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return (0..<200).map { index in
            let kind = Kind.allCases[index % Kind.allCases.count]
            let body = String((0..<24).map { _ in letters.randomElement(using: &random) ?? "x" })
            switch kind {
            case .tokenInText:
                let claims = Base64.encode(Array(#"{"sub":"\#(body)"}"#.utf8), as: .url)
                return Canary(kind: kind, text: "eyJhbGciOiJIUzI1NiJ9.\(claims).\(body)\(body)")
            case .schemaSecret: return Canary(kind: kind, text: "plain words \(index) here")
            default: return Canary(kind: kind, text: body)
            }
        }
    }()

    private static func send(_ canary: Canary, _ index: Int, by system: NetworkSystem) async throws
    {
        var fields = HTTPFields()
        var (target, body) = ("/orders/\(index)?n=\(index)", Array(#"{"item":"tea"}"#.utf8))
        var type = "application/json"
        let text = canary.text
        switch canary.kind {
        case .bearer: fields[.authorization] = "Bearer \(text)"
        case .basic:
            fields[.authorization] =
                "Basic " + Base64.encode(Array("user:\(text)".utf8), as: .standard)
        case .apiKeyField: fields[HTTPField.Name("X-Api-Key")!] = text
        case .cookie: fields[.cookie] = "theme=dark; sid=\(text)"
        case .setCookie: fields[HTTPField.Name("X-Echo")!] = "cookie"
        case .query: target += "&access_token=\(text)"
        case .userInfo: fields[.referer] = "https://user:\(text)@example.com/a"
        case .deepMember:
            body = Array(#"{"a":[{"b":{"tokens":{"access":"\#(text)"}}}],"c":"\#(text)"}"#.utf8)
        case .formField:
            type = "application/x-www-form-urlencoded"
            body = Array("name=a+b&password=\(text)".utf8)
        case .multipartPart:
            type = "multipart/form-data; boundary=xyz"
            body = Array(
                "--xyz\r\nContent-Disposition: form-data; name=\"secret\"\r\n\r\n\(text)\r\n--xyz--\r\n"
                    .utf8)
        case .tokenInText: body = Array(#"{"note":"use \#(text) today"}"#.utf8)
        case .schemaSecret: body = Array(#"{"note":"a \#(text) b"}"#.utf8)
        }
        fields[.contentType] = type
        _ = try? await system.exchange(
            "shop", method: .post, target: target, fields: fields, body: body,
            options: RequestOptions(tags: ["canary"]))
    }

    /// Echoes bodies, and sets a cookie.
    private static func echo() -> StubEngine {
        let stub = StubEngine()
        stub.respond(by: { request throws(TransportError) in
            var fields: HTTPFields = [
                .contentType: request.request.headerFields[.contentType] ?? ""
            ]
            let number = Int(request.path.split(separator: "/").last ?? "") ?? 0
            let canary = canaries[number % canaries.count]
            if canary.kind == .setCookie {
                fields[.setCookie] = "sid=\(canary.text); Path=/; HttpOnly"
            }
            if number % 50 == 7 { throw TransportError(.cutOff, "cut off") }
            return .status(number % 10 == 3 ? 503 : 200, fields: fields, body: request.body)
        })
        return stub
    }

    @Test(.features("000-42", "000-47"), .timeLimit(.minutes(20)))
    func noByteOfASecretIsKept() async throws {
        let log = RecordingLog(level: .debug)
        let schema = try Schema(
            parsing: Array(
                """
                {"keys":{"hidden":{"type":"array"},
                "services.shop.baseURL":{"type":"string","visibility":"public"},
                "services.shop.protocol":{"type":"string","visibility":"public"}}}
                """.utf8))
        let hidden = Self.canaries.filter { $0.kind == .schemaSecret }.map {
            JSONValue.string($0.text)
        }
        let values: JSONValue = [
            "hidden": .array(hidden), "services.shop.baseURL": "https://shop.example.com",
            "services.shop.protocol": "rest",
        ]
        let configuration = try GlobalConfiguration(
            schema: schema, defaults: .json(values.serialized()))
        var options = NetworkSystem.Options()
        options.engine = Self.echo()
        options.runMode = .development
        options.dangerous.allowUnpinnedServices()
        options.logger = Logger(label: "canary") { _ in log }
        options.logger.logLevel = .debug
        let system = try await NetworkSystem.start(configuration, options: options)
        var recorded = RecordingOptions.anywhere
        recorded.limits.calls = 500
        let recorder = Recorder(recorded)
        try recorder.start(on: system)
        #if Storage
        let directory = try TemporaryDirectory()
        let forms = Self.canaries.flatMap(\.forms)
        let patterns = try directory.write(Array(forms.joined(separator: [0x0A])), to: "forms")
        let store = try DiskRecordingStore(
            in: DataFolder(directory.path("data")), limits: recorded.limits)
        let disk = Recorder(.anywhere, into: store)
        try disk.start(on: system)
        #endif
        for index in 0..<Self.callCount {
            try await Self.send(Self.canaries[index % Self.canaries.count], index, by: system)
            #if Storage
            // While the pages of the log are there, and those of dropped calls.
            if index % 1000 == 399 {
                #expect(try await !store.recording().calls.isEmpty)
                try await Self.requireNone(in: directory, by: patterns)
            }
            #endif
        }
        #if Storage
        #expect(try await store.recording().calls.count == min(500, Self.callCount))
        try await Self.requireNone(in: directory, by: patterns)
        #endif
        let recording = try await recorder.recording()
        #expect(recording.calls.count == min(500, Self.callCount))
        let har = recording.har()
        let lines = recording.exchanges.compactMap(\.curlCommand).joined(separator: "\n")
        for (name, text) in [
            ("HAR", Data(har)), ("curl", Data(lines.utf8)), ("log", Data(log.text.utf8)),
            ("recorder", Data("\(recorder) \(recording.calls)".utf8)),
        ] {
            let found = Self.canaries.filter { canary in
                canary.forms.contains { text.range(of: Data($0)) != nil }
            }
            #expect(found.map(\.text) == [], "\(name)")
        }
        // What isn't secret is there.
        #expect(String(decoding: har, as: UTF8.self).contains("theme="))
        #expect(recording.exchanges.allSatisfy { !$0.redactions.isEmpty || $0.response == nil })
    }

    #if Storage
    /// Looks for canaries in the files of a store: the database, and its log.
    private static func requireNone(
        in directory: TemporaryDirectory, by patterns: String
    ) async throws {
        let folder = directory.path("data")
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
        #expect(names.contains { $0.hasSuffix(".sqlite-wal") })
        let found = try await ChildProcess.run(
            "/usr/bin/env", ["grep", "-aroFf", patterns, folder])
        #expect(found.exit == 1 && found.stdout.isEmpty, "\(found.text)")
    }
    #endif

    @Test func theSearchFindsACanary() {
        let canary = Self.canaries[0]
        #expect(canary.forms.allSatisfy { $0.count > 12 })
        let text = Array("x \(Base64.encode(Array(canary.text.utf8), as: .standard)) y".utf8)
        #expect(canary.forms.contains { text.firstRange(of: $0) != nil })
    }

    @Test(
        .enabled(if: HARSchema.vectors != nil),
        arguments: ["chrome", "firefox", "diff_data", "charles"])
    func scrubLeavesNothingOfBrowsersRecordings(_ name: String) throws {
        let folder = try #require(HARSchema.vectors)
        let bytes = try [UInt8](Data(contentsOf: folder.appending(path: "\(name).har")))
        let recording = try Recording(har: bytes)
        let redacted = recording.redacted()
        let har = redacted.har()
        // Cookies both ways, and what the detector finds.
        for exchange in recording.exchanges {
            for field in exchange.request.fields + (exchange.response?.fields ?? [])
            where ["cookie", "set-cookie", "authorization"].contains(field.name.lowercased()) {
                for pair in field.value.split(
                    separator: field.name.lowercased() == "cookie" ? ";" : "\n")
                {
                    let value =
                        pair.split(separator: ";")[0].split(separator: "=", maxSplits: 1).last ?? ""
                    guard value.utf8.count >= 8 else { continue }
                    #expect(har.firstRange(of: Array(value.utf8)) == nil)
                }
            }
        }
        for (once, twice) in zip(redacted.exchanges, redacted.redacted().exchanges) {
            #expect(once.request.url == twice.request.url)
            #expect(once.request.fields == twice.request.fields)
            #expect(once.request.body?.text == twice.request.body?.text)
            #expect(once.response?.fields == twice.response?.fields)
            #expect(once.response?.body?.text == twice.response?.body?.text)
            #expect(once.redactions == twice.redactions)
        }
        #expect(try HARSchema().problems(in: har) == [])
        let findings = try Recording.findings(inHAR: har)
        #expect(findings == [])
    }
}
