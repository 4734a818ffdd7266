#if Peers
import AsyncHTTPClient
import CFloor
import Foundation
import HTTPTypes
import NIOCore
import NIOSSL
import SignetClient
import SignetCurl
import SignetPinning
import SignetSigning
import SignetTransport

/// Processor time of a JSON-RPC call from the Swift value to the Swift value, over HTTP/1.1: ours signed
/// (RFC 9421, HMAC-SHA256, body digest) and pinned; the floor's made by async-http-client and
/// Foundation's coders, without signature and pins.
struct PeerRows {
    static let names = ["rpc-call-1", "rpc-call-16"]
    private static let total = 4000

    private struct CreateOrder: Endpoint {
        var service: ServiceName { "orders" }
        var method: RPCMethod { "orders.create" }
        var item: String
        var quantity: Int
        typealias Success = Order
    }

    private struct Order: Codable {
        var id: Int
        var item: String
        var quantity: Int
        var status: String
    }

    /// The peer's box, as a program writes it by hand.
    private struct Call: Encodable {
        struct Parameters: Encodable {
            var item: String
            var quantity: Int
        }
        var jsonrpc = "2.0"
        var id: Int
        var method = "orders.create"
        var params: Parameters
    }

    private struct Response: Decodable {
        var id: Int
        var result: Order
    }

    private let host: BenchHost

    static func rows() async throws -> [Row] { PeerRows(host: try await BenchHost()).rows() }

    private func rows() -> [Row] {
        [row("rpc-call-1", callers: 1), row("rpc-call-16", callers: 16)]
    }

    private func row(_ name: String, callers: Int) -> Row {
        Row(
            name: name, unit: .microseconds, goal: .ratio(1.5), rounds: 7,
            ours: { try await signed(callers: callers) },
            floor: { try await bare(callers: callers) })
    }

    private func signed(callers: Int) async throws -> Double {
        var orders = ServiceConfiguration(
            baseURL: "https://\(host.authority)/bench-rpc", payloadProtocol: .jsonRPC2)
        orders.signing = ServiceConfiguration.Signing(scheme: "rfc9421", keyID: "bench")
        var options = NetworkSystem.Options()
        var engine = EngineSettings()
        engine.caFile = host.caFile
        engine.offersHTTP2 = false
        engine.maximumConnectionsPerHost = callers
        options.engineSettings = engine
        let system = try await NetworkSystem.start(
            services: ["orders": orders], keys: SigningJob.keys(#""alg":"HS256","#),
            policy: host.policy, options: options)
        let time = try await processorTime(callers: callers, total: Self.total) { _ in
            let order = try await system.send(CreateOrder(item: "tea", quantity: 2))
            try require(order.status == "created", "wrong response")
        }
        await system.shutdown()
        return time
    }

    private func bare(callers: Int) async throws -> Double {
        var settings = HTTPClient.Configuration()
        settings.httpVersion = .http1Only
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = callers
        var trust = TLSConfiguration.makeClientConfiguration()
        trust.trustRoots = .file(host.caFile)
        settings.tlsConfiguration = trust
        let client = HTTPClient(configuration: settings)
        let url = "https://\(host.authority)/bench-rpc"
        let time = try await processorTime(callers: callers, total: Self.total) { id in
            let call = Call(id: id, params: Call.Parameters(item: "tea", quantity: 2))
            var request = HTTPClientRequest(url: url)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.headers.add(name: "Accept", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: try JSONEncoder().encode(call)))
            let response = try await client.execute(request, timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1 << 20)
            let decoded = try JSONDecoder().decode(
                Response.self, from: Data(body.readableBytesView))
            try require(
                decoded.id == id && decoded.result.status == "created", "wrong response")
        }
        try await client.shutdown()
        return time
    }
}
#endif
