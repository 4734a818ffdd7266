#if Inspector
import HTTPTypes
import SignetClient
import SignetInspector
import SignetJSON
import SignetRPC
import SignetRecording
import SignetTransport
import Synchronization
import TestSupport
import Testing

/// Calls that fail, on the page of the running system and on that of its recording, which say the
/// same.
@Suite(.enabled(if: RunMode.isSwitchable)) struct RecordedFailureTests {
    private static let pins = ["A", "B", "C"].map {
        "sha256/" + String(repeating: $0, count: 42) + "A="
    }

    /// Servers that fail in five ways.
    private final class Servers: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "servers", pinsPublicKeys: true, speaksHTTP2: true)
        private let prices = Atomic(0)

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            let authority = request.request.authority ?? ""
            let chain = pins.prefix(1).compactMap { text in
                (try? Pin(parsing: text)).map { SeenCertificate(subject: "CN=a", pin: $0) }
            }
            let verdict = (try? HostName.canonical(authority)).flatMap {
                request.policy?.verdict(for: $0, chain: chain)
            }
            if let refusal = verdict?.refusal { throw TransportError(refusal) }
            var (status, fields, body): (Int, HTTPFields, String) = (200, [:], "{}")
            switch authority {
            case "partner.example.com": (status, body) = (401, #"{"error":"wrong signature"}"#)
            case "busy.example.com": status = 503
            case "prices.example.com" where prices.add(1, ordering: .relaxed).oldValue == 0:
                fields[.cacheControl] = "max-age=0, stale-if-error=86400"
            case "prices.example.com":
                throw TransportError(.connect, "\(authority):443: Connection refused")
            case "shop.example.com": body = #"{"code":4001,"text":"sold out"}"#
            default: body = #"{"jsonrpc":"2.0","id":1,"error":{"code":-7,"message":"no"}}"#
            }
            fields[.contentType] = "application/json"
            return EngineResponse(
                response: HTTPResponse(status: .init(code: status), headerFields: fields),
                body: HTTPResponseBody(bytes: Array(body.utf8)),
                httpVersion: .init(major: 2, minor: 0), verdict: verdict, peerChain: chain)
        }

        func shutdown() async {}
    }

    private static func service(_ host: String, pinned: Bool = true) throws
        -> ServiceConfiguration
    {
        var service = ServiceConfiguration(
            baseURL: "https://\(host).example.com", payloadProtocol: .rest,
            signing: .init(scheme: "rfc9421", keyID: "k"),
            pins: try (pinned ? pins.prefix(2) : pins.suffix(2)).map { try Pin(parsing: $0) })
        service.attempts = host == "busy" ? 2 : 1
        return service
    }

    private static func start() async throws -> NetworkSystem {
        var options = NetworkSystem.Options()
        options.runMode = .development
        options.engine = Servers()
        options.cacheStore = MemoryCacheStore(byteLimit: 1 << 20)
        options.clock.sleep = { _ in }
        var services: [ServiceName: ServiceConfiguration] = [
            "payments": try service("pay", pinned: false), "partner": try service("partner"),
            "busy": try service("busy"), "prices": try service("prices"),
            "shop": try service("shop"),
        ]
        services["prices"]?.options.cache = .http
        services["shop"]?.options.responseChecks = [
            BusinessCodeCheck(field: "code", goodCodes: [0])
        ]
        let key = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"
        let keys = try KeySet(
            parsing: Array(
                #"{"keys":[{"kty":"oct","use":"sig","kid":"k","alg":"HS256","k":"\#(key)"}]}"#.utf8),
            source: "test")
        return try await NetworkSystem.start(services: services, keys: keys, options: options)
    }

    private static func hops(_ detail: JSONValue) -> [JSONValue] {
        (detail["attempts"]?.array ?? []).flatMap { $0["hops"]?.array ?? [] }
    }

    /// The parts of a call that explain it.
    private static func explanation(_ row: JSONValue, _ detail: JSONValue) -> [JSONValue?] {
        let hops = hops(detail)
        let bases = (detail["contents"]?.array ?? []).map { $0["base"] ?? .null }
        return [
            row["state"], row["code"], row["message"], row["serverCode"], row["pin"],
            row["cache"], row["attempts"], row["isSigned"], row["isSimulated"],
            detail["cache"]?["decision"], .array(hops.map { $0["failure"] ?? .null }),
            .array(hops.map { $0["message"] ?? .null }),
            .array(hops.map { $0["pins"]?["refusal"] ?? .null }),
            .array(hops.map { $0["pins"]?["wanted"] ?? .null }), .array(bases),
        ]
    }

    @Test(.features("000-59")) func theRecordingExplainsAsTheProgramDoes() async throws {
        let system = try await Self.start()
        let page = try await system.inspect()
        let browser = try await PageBrowser(opening: page.url)
        let recording = try await system.record {
            for name in ["payments", "partner", "busy", "prices", "prices", "shop"] {
                _ = try? await system.call(RESTRequest(.get, "/x"), on: ServiceName(name))
            }
        }
        let rows = try await browser.calls {
            $0.count == 6 && $0.allSatisfy { $0["state"] != "running" }
        }
        let har = recording.har()
        let read = try Recording(har: har)
        #expect(read.calls == recording.calls)
        let recorded = try await Inspector.show(read)
        let reader = try await PageBrowser(opening: recorded.url)
        let others = try await reader.calls { $0.count == 6 }
        try #require(rows.count == 6 && others.count == 6)
        var details: [JSONValue] = []
        for index in rows.indices {
            let live = try await browser.get("/api/call?id=\(index + 1)")
            let same = try await reader.get("/api/call?id=\(index + 1)")
            let left = Self.explanation(rows[index], live)
            let right = Self.explanation(others[index], same)
            for (place, pair) in zip(left, right).enumerated() {
                #expect(pair.0 == pair.1, "call \(index + 1), part \(place)")
            }
            details.append(same)
        }
        // Both are right.
        #expect(others[0]["code"] == "pin-mismatch" && others[0]["pin"] == "mismatch")
        #expect(
            Self.hops(details[0]).first?["pins"]?["seen"]?.array?.first?["pin"]?.string
                == Self.pins[0])
        #expect(others[0]["message"]?.string?.contains(Self.pins[2]) == true)
        #expect(others[1]["status"] == 401 && others[2]["attempts"] == 2)
        let bases = (details[1]["contents"]?.array ?? []).compactMap { $0["base"] }
        let base = try #require(bases.first { !$0.isNull })
        #expect(base["scheme"] == "rfc9421" && base["keyID"] == "k")
        #expect(base["text"]?.string?.contains(#""@method": GET"#) == true)
        #expect(base["parts"]?.array?.contains { $0.array?.last == "GET" } == true)
        #expect(others[4]["cache"] == "stale" && others[4]["state"] == "success")
        let refused = "prices.example.com:443: Connection refused"
        #expect(Self.hops(details[4]).first?["message"]?.string?.contains(refused) == true)
        #expect(others[5]["code"] == "business-code" && others[5]["serverCode"] == "4001")
        await page.stop()
        await recorded.stop()
        await system.shutdown()
        await browser.close()
        await reader.close()
    }

    /// A failure that a switch made is one in the recording too, which has no request of it.
    @Test func aSimulatedFailureIsRecordedAsOne() async throws {
        let fixture = try await InspectorFixture()
        var switches = fixture.system.switches
        switches.simulation.isOffline = true
        try fixture.system.update(switches: switches)
        let recording = try await fixture.system.record {
            _ = try? await fixture.system.call(RPCCall("orders.list"), on: "orders")
        }
        let call = try #require(try Recording(har: recording.har()).calls.first)
        #expect(call.isSimulated && call.failure == "offline" && call.exchanges.isEmpty)
        #expect(call.message?.contains("simulation.offline") == true)
        await fixture.stop()
    }
}
#endif
