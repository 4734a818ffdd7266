import Foundation
import SignetCrypto
import SignetJSON
import SignetPinning
import TestSupport
import Testing

/// Pin reports as values, in the formats of other programs, in a file, and at most once a day.
@Suite struct PinReportTests {
    private static let now: Int64 = 1_795_228_551
    private static let day: Int64 = 86_400
    private static let pin = "sha256/AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    private static let other = "sha256/d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM="

    private func report(
        host: String = "a.example", rule: String = #""**.example":{"pins":["$a"]}"#,
        chain: [String] = [Self.other], port: Int = 443, date: Int64 = Self.now,
        isEnforced: Bool = true, subject: String = "CN=a.example"
    ) throws -> PinReport {
        let text = rule.replacing("$a", with: Self.pin)
        let policy = try PinPolicy(parsing: Array("{\"hosts\":{\(text)}}".utf8))
        let certificates = try chain.map {
            SeenCertificate(
                subject: subject, pin: try Pin(parsing: $0), der: [0x30, 0x03, 1, 2, 3])
        }
        let verdict = policy.verdict(
            for: try HostName.canonical(host), chain: certificates, now: date,
            served: [[0x30, 0x00]], port: port)
        return PinReport(
            try #require(verdict.finding), port: 1, isEnforced: isEnforced, date: date)
    }

    // MARK: Shapes

    @Test func hasTheShapeOfRFC7469() throws {
        let bytes = try #require(PinReportFormat.rfc7469.body(of: report(port: 8443)))
        let json = try JSONValue(parsing: bytes)
        let pem = "-----BEGIN CERTIFICATE-----\nMAMBAgM=\n-----END CERTIFICATE-----\n"
        #expect(
            json == [
                "date-time": "2026-11-21T02:35:51Z", "hostname": "a.example", "port": 8443,
                "noted-hostname": "example", "include-subdomains": true,
                "effective-expiration-date": "9999-12-31T23:59:59Z",
                "validated-certificate-chain": [.string(pem)],
                "served-certificate-chain": [
                    "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
                ],
                "known-pins": [
                    #"pin-sha256="AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=""#
                ],
            ])
        let dated = try report(rule: #""a.example":{"pins":["$a"],"expires":"2027-06-30"}"#)
        let body = try JSONValue(parsing: #require(PinReportFormat.rfc7469.body(of: dated)))
        #expect(body["effective-expiration-date"] == "2027-07-01T00:00:00Z")
        #expect(body["include-subdomains"] == false)
    }

    @Test func hasTheShapeOfTrustKit() throws {
        let app = PinReportFormat.App(identifier: "com.example.shop", version: "1.4.2")
        let rule = #""a.example":{"pins":["$a"],"expires":"2027-06-30","mode":"report"}"#
        let report = try report(rule: rule, isEnforced: false)
        let json = try JSONValue(
            parsing: #require(PinReportFormat.trustKit(app).body(of: report)))
        // The members of TSKPinFailureReport, and no other.
        #expect(
            Set(json.object?.memberNames ?? []) == [
                "app-bundle-id", "app-version", "app-platform", "app-platform-version",
                "app-vendor-id", "trustkit-version", "date-time", "hostname", "port",
                "noted-hostname", "include-subdomains", "enforce-pinning",
                "validated-certificate-chain", "known-pins", "validation-result",
                "known-pins-expiration-date",
            ])
        #expect(json["enforce-pinning"] == false && json["validation-result"] == 1)
        #expect(json["known-pins-expiration-date"] == "2027-06-30")
        #expect(json["app-bundle-id"] == "com.example.shop")
    }

    @Test func aRefusalWithoutAChainHasNoShape() throws {
        for host in ["other.test", "a.example"] {
            let rule = #""a.example":{"pins":["$a"],"expires":"2020-01-01"}"#
            let report = try report(host: host, rule: rule, chain: [])
            #expect(PinReportFormat.rfc7469.body(of: report) == nil)
        }
    }

    // MARK: Once a day

    private final class Gate {
        private var gate: PinReportRateLimiter
        init(_ gate: PinReportRateLimiter) { self.gate = gate }
        func admits(_ report: PinReport) -> Bool { gate.admits(report) }
    }

    @Test func letsOneOfAKindThroughADay() throws {
        let gate = Gate(PinReportRateLimiter())
        let first = try report()
        #expect(gate.admits(first))
        #expect(!gate.admits(first))
        #expect(try !gate.admits(report(date: Self.now + Self.day - 1)))
        #expect(try gate.admits(report(date: Self.now + Self.day)))
        #expect(try !gate.admits(report(date: Self.now + Self.day)))
        // Each of these is of another kind.
        #expect(try gate.admits(report(host: "b.example")))
        #expect(try gate.admits(report(port: 8443)))
        #expect(try gate.admits(report(chain: [Self.other, Self.other])))
        #expect(try gate.admits(report(isEnforced: false)))
        #expect(try gate.admits(report(rule: #""a.example":{"pins":["$a"]}"#)))
        // Only the code differs: the same rule after its expiration.
        let expired = #""**.example":{"pins":["$a"],"expires":"2020-01-01"}"#
        #expect(try gate.admits(report(rule: expired, date: Self.now + Self.day)))
        #expect(try !gate.admits(report(rule: expired, date: Self.now + Self.day)))
        // A subject that a server made up makes no other kind.
        #expect(try !gate.admits(report(date: Self.now + Self.day, subject: "CN=new")))
    }

    @Test func aClockThatIsSetBackRestartsTheLimit() throws {
        let gate = Gate(PinReportRateLimiter())
        #expect(try gate.admits(report(date: Self.now)))
        #expect(try gate.admits(report(date: Self.now - 10)))
        #expect(try !gate.admits(report(date: Self.now - 9)))
    }

    @Test func remembersSoManyKinds() throws {
        let gate = Gate(PinReportRateLimiter(pause: 100, limit: 4))
        for number in 0..<4 { #expect(try gate.admits(report(port: number + 1))) }
        for number in 4..<40 { #expect(try !gate.admits(report(port: number + 1))) }
        #expect(try !gate.admits(report(port: 1, date: Self.now + 99)))
        #expect(try gate.admits(report(port: 50, date: Self.now + 100)))
    }

    @Test func inventedChainsSuppressNoReport() throws {
        let gate = Gate(PinReportRateLimiter(pause: 100, limit: 4))
        // Refused before any connection: as many as somebody has names for, by redirects or
        // otherwise.
        for number in 0..<40 {
            let invented = try report(host: "h\(number).other", chain: [])
            #expect(gate.admits(invented) == (number < 2))
        }
        for port in 1...3 { #expect(try gate.admits(report(port: port)) == (port < 3)) }
        #expect(try gate.admits(report(host: "x.other", chain: [], date: Self.now + 100)))
    }

    // MARK: The file

    @Test func appendsALineForEachReport() async throws {
        let folder = try TemporaryDirectory()
        let sink = JSONLinesPinReports(path: folder.path("pins.jsonl"))
        var reports = [try report(), try report(subject: "CN=\"\n\u{1B}[31m")]
        reports[1].dropped = 3
        for report in reports { try await sink.receive(report) }
        let text = String(decoding: try folder.read("pins.jsonl"), as: UTF8.self)
        let lines = try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect(lines.count == 2 && text.last == "\n")
        #expect(lines[0]["kind"] == "pin-mismatch" && lines[0]["mode"] == "enforce")
        #expect(lines[0]["chain"]?.array?[0]["pin"]?.string == Self.other)
        #expect(lines[0]["dropped"] == nil && lines[1]["dropped"] == 3)
        let mode = try FileManager.default.attributesOfItem(atPath: sink.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
    }

    @Test func manyWritersKeepTheirLinesWhole() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("pins.jsonl")
        let report = try report()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                let sink = JSONLinesPinReports(path: path)
                group.addTask { for _ in 0..<20 { try await sink.receive(report) } }
            }
            try await group.waitForAll()
        }
        let lines = try folder.read("pins.jsonl").split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 160)
        #expect(lines.allSatisfy { (try? JSONValue(parsing: Array($0))) != nil })
    }

    @Test func theFileIsBounded() async throws {
        let folder = try TemporaryDirectory()
        let report = try report()
        let line = JSONValue.object(report.json).serialized().count + 1
        let sink = JSONLinesPinReports(path: folder.path("pins.jsonl"), maximumSize: line * 3)
        for _ in 0..<10 { try await sink.receive(report) }
        #expect(try folder.contents() == ["pins.jsonl", "pins.jsonl.1"])
        #expect(try folder.read("pins.jsonl").count == line)
        #expect(try folder.read("pins.jsonl.1").count == line * 3)
    }

    @Test func aFailedWriteIsOnlyAnError() async throws {
        let folder = try TemporaryDirectory()
        for path in [folder.url.path, folder.path("absent/pins.jsonl"), "/dev/full", ""] {
            let sink = JSONLinesPinReports(path: path)
            let report = try report()
            let error = await #expect(throws: PinError.self) { try await sink.receive(report) }
            #expect(error?.code == .reportFailed, "\(path)")
        }
    }
}
