#if Inspector
import HTTPTypes
import SignetClient
import SignetJSON
import SignetTransport
import Synchronization

/// Servers that don't exist, so that each failure comes when it is wanted. Everything around this
/// engine is the network system as it is: signatures, pins, retries, the cache and the checks.
final class Servers: HTTPEngine {
    let capabilities = EngineCapabilities(
        name: "servers", pinsPublicKeys: true, speaksHTTP2: true, connectsToAddresses: true)
    private let prices = Atomic(0)

    /// The keys of the servers' chain, leaf first.
    static let pins = (
        leaf: "sha256/E9CZ9INDbd+2eRQozYqqbQ2yXLVKB9+xcprMF+44U1g=",
        authority: "sha256/YLh1dUR9y6Kja30RrAn7JKnbQG/uEtLMkBgFF2Fuihg="
    )

    func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
        let authority = request.request.authority ?? ""
        var timings = Timings()
        timings.nameResolved = .microseconds(900)
        timings.connected = .milliseconds(2)
        timings.secured = .milliseconds(6)
        do { try await Task.sleep(for: .milliseconds(12)) } catch {
            throw TransportError(.cancelled, "the call was cancelled")
        }
        let chain = try Self.chain(of: authority)
        let verdict: PinVerdict?
        do {
            verdict = request.policy?.verdict(for: try HostName.canonical(authority), chain: chain)
        } catch {
            throw TransportError(.tls, "the server's chain can't be read")
        }
        if let refusal = verdict?.refusal { throw TransportError(refusal) }
        let (status, fields, body) = try response(to: request, at: authority)
        timings.firstByte = .milliseconds(11)
        timings.total = .milliseconds(12)
        timings.bytesSent = Int64(300 + (request.body.bytes?.count ?? 0))
        timings.bytesReceived = Int64(160 + body.utf8.count)
        return EngineResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: HTTPResponseBody(bytes: Array(body.utf8)),
            httpVersion: .init(major: 2, minor: 0), timings: timings, verdict: verdict,
            peerChain: chain)
    }

    /// The first address has no server, the last one is the slowest.
    func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
        let address = probe.connectTo.first?.address?.description ?? ""
        do { try await Task.sleep(for: .milliseconds(address.last == "3" ? 30 : 5)) } catch {
            throw TransportError(.cancelled, "the measurement was cancelled")
        }
        if address.last == "1" { throw TransportError(.connect, "\(address) has no server") }
        return ProbeResult(
            chain: try Self.chain(of: "\(probe.authority.host)"), isTrusted: true)
    }

    private static func chain(
        of authority: String
    ) throws(TransportError) -> [SeenCertificate] {
        do {
            return [
                SeenCertificate(subject: "CN=\(authority)", pin: try Pin(parsing: pins.leaf)),
                SeenCertificate(
                    subject: "CN=Example CA", pin: try Pin(parsing: pins.authority)),
            ]
        } catch {
            throw TransportError(.tls, "the server's chain can't be read")
        }
    }

    func shutdown() async {}

    private func response(
        to request: EngineRequest, at authority: String
    ) throws(TransportError) -> (Int, HTTPFields, String) {
        let json: HTTPFields = [.contentType: "application/json"]
        switch authority {
        case "partner.example.com": return (401, json, #"{"error":"signature does not match"}"#)
        case "busy.example.com": return (503, json, #"{"error":"try later"}"#)
        case "prices.example.com":
            guard prices.add(1, ordering: .relaxed).oldValue == 0 else {
                throw TransportError(.connect, "prices.example.com refuses connections")
            }
            let fields: HTTPFields = [
                .contentType: "application/json",
                .cacheControl: "max-age=1, stale-if-error=86400",
            ]
            return (200, fields, #"{"tea":3.50}"#)
        default:
            let call = request.body.bytes.flatMap { try? JSONValue(parsing: $0) }
            let result: JSONValue =
                switch call?["method"]?.string {
                case "stock.reserve": ["code": 4001, "text": "sold out"]
                case "orders.greet": ["code": 0, "text": .string(Look.hostile)]
                default: ["code": 0, "orders": [["id": 7, "item": "tea", "cups": 2]]]
                }
            let answer: JSONObject = [
                "jsonrpc": "2.0", "id": call?["id"] ?? .null, "result": result,
            ]
            return (200, json, JSONValue.object(answer).text)
        }
    }
}
#endif
