import Foundation

/// A fault on the way between a client and a server.
package struct NetworkFault: Sendable, Hashable, Encodable {
    private let kind: String
    private let amount: Int

    private init(_ kind: String, amount: Int = 0) {
        self.kind = kind
        self.amount = amount
    }

    /// None.
    package static let none = NetworkFault("none")

    // MARK: Of the connection

    /// Waits before it connects to the server, and before each piece that the server sends.
    package static func latency(milliseconds: Int) -> NetworkFault {
        NetworkFault("latency", amount: milliseconds)
    }
    /// Hands on no more than so many bytes of the server in a second.
    package static func bandwidth(bytesPerSecond: Int) -> NetworkFault {
        NetworkFault("bandwidth", amount: bytesPerSecond)
    }
    /// Ends the connection after so many bytes of the server; with 0, when the first ones come.
    package static func cut(afterBytes count: Int) -> NetworkFault {
        NetworkFault("cut", amount: count)
    }
    /// Ends the connection after so many bytes of the client.
    package static func cutRequest(afterBytes count: Int) -> NetworkFault {
        NetworkFault("cut-request", amount: count)
    }
    /// Resets the connection after so many bytes of the server (`SO_LINGER` 0).
    package static func reset(afterBytes count: Int) -> NetworkFault {
        NetworkFault("reset", amount: count)
    }
    /// Says nothing more after so many bytes of the server, such as in the middle of a handshake.
    package static func stall(afterBytes count: Int) -> NetworkFault {
        NetworkFault("stall", amount: count)
    }
    /// Waits before it ends the connection that the server has ended.
    package static func slowClose(milliseconds: Int) -> NetworkFault {
        NetworkFault("slow-close", amount: milliseconds)
    }

    // MARK: Of a response, which the server makes

    /// Responds with a status, without a body.
    package static func status(_ status: Int) -> NetworkFault {
        NetworkFault("status", amount: status)
    }
    /// Names a length that is so many bytes more than the body, or fewer, and ends the connection.
    package static func wrongLength(by count: Int) -> NetworkFault {
        NetworkFault("length", amount: count)
    }
    /// Ends in the middle of the body.
    package static let death = NetworkFault("death")
    /// Ends after the request, without a byte.
    package static let silence = NetworkFault("silence")
    /// Sends half a status line.
    package static let halfStatusLine = NetworkFault("half-line")
    /// Sends what isn't HTTP.
    package static let garbage = NetworkFault("garbage")
    /// Ends the HTTP/2 session before it has seen the request (GOAWAY with the last stream 0).
    package static let goAwayUnseen = NetworkFault("goaway-unseen")
    /// Ends the HTTP/2 session in the middle of the response (GOAWAY, and the connection's end).
    package static let goAway = NetworkFault("goaway")
}

/// Which fault is the n-th one's.
package enum FaultPlan: Sendable {
    /// These, one after another, and then none.
    case list([NetworkFault])
    /// One of these by a seed and the number, so that a run can be repeated.
    case seed(UInt64, [NetworkFault])

    /// The seed, or nothing, and the faults as JSON, for a script.
    fileprivate var arguments: [String] {
        get throws {
            let (seed, faults) =
                switch self {
                case .list(let faults): ("", faults)
                case .seed(let seed, let faults): ("\(seed)", faults)
                }
            return [seed, String(decoding: try JSONEncoder().encode(faults), as: UTF8.self)]
        }
    }
}

/// A TCP proxy on loopback that does to each connection what its plan says, in Python.
package final class FaultProxy: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts a proxy before a server on loopback.
    package init(before origin: Int, _ plan: FaultPlan) async throws {
        (server, port) = try await SocketServer.start(
            "fault-proxy", ["\(origin)"] + plan.arguments)
    }

    /// The faults of the connections so far, by name.
    package var faults: [String] { server.lines("FAULT") }
}

/// An HTTP server on loopback whose responses are faulty as its plan says, in Python.
///
/// It keeps connections open, and knows each POST by the member `id` of its body. A response is
/// `{"id":…}`, the number of the request.
package final class FaultServer: Sendable {
    package let port: Int
    private let server: ServerProcess

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - plan: The faults of requests.
    ///   - tls: Its TLS certificates; nil is TCP.
    ///   - http2: Whether it speaks HTTP/2, for which it needs TLS.
    ///   - secret: A text that each response contains, in a field and in the body.
    package init(
        _ plan: FaultPlan = .list([]), tls: TestAuthority.Certificate? = nil, http2: Bool = false,
        secret: String = ""
    ) async throws {
        (server, port) = try await SocketServer.start(
            http2 ? "fault-http2" : "fault-http1", [secret] + plan.arguments, tls: tls)
    }

    /// The requests that arrived completely, as `GET -` or `POST 7`.
    package var requests: [String] {
        server.stdout.split(separator: "\n").map(String.init).filter {
            $0.hasPrefix("GET ") || $0.hasPrefix("POST ") || $0.hasPrefix("PUT ")
        }
    }

    /// The ids of the POST requests that arrived completely, in their order.
    package var posts: [Int] {
        requests.filter { $0.hasPrefix("POST ") }.compactMap { Int($0.dropFirst(5)) }
    }

    /// The faults of the requests so far, by name.
    package var faults: [String] { server.lines("FAULT") }
}
