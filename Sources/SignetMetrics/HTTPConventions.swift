#if Metrics
import HTTPTypes
import SignetBase
import SignetClient
import SignetTransport

/// Names and values of OpenTelemetry's conventions for HTTP clients (semantic conventions
/// 1.44).
enum HTTPConventions {
    // Metrics.
    static let requestDuration = "http.client.request.duration"
    // Attributes of metrics and spans.
    static let method = "http.request.method"
    static let serverAddress = "server.address"
    static let serverPort = "server.port"
    static let status = "http.response.status_code"
    static let errorType = "error.type"
    static let protocolVersion = "network.protocol.version"
    static let urlTemplate = "url.template"
    // Attributes of spans only.
    static let originalMethod = "http.request.method_original"
    static let resendCount = "http.request.resend_count"
    static let fullURL = "url.full"

    /// The value of `http.request.method` for a method that isn't known.
    static let otherMethod = "_OTHER"

    /// The value of `server.address` for another origin than that of the attempt.
    static let otherServer = "_OTHER"

    /// The lowest status that is an error for a client.
    static let firstErrorStatus = 400

    /// `1.1`, `2` or `3`.
    static func version(_ version: EngineResponse.HTTPVersion) -> String {
        version.major >= 2 ? "\(version.major)" : "\(version.major).\(version.minor)"
    }

    /// The value of `error.type`: one of Signet's codes, or the name of a foreign error's type.
    static func errorType(_ error: any Error) -> String {
        switch error {
        case let error as ClientError: error.code.name
        case let error as TransportError: error.code.name
        case is CancellationError: ClientError.Code.cancelled.name
        default: "\(type(of: error))"
        }
    }
}

/// The methods that attributes may name; others become `_OTHER`, so that their number is
/// limited.
public struct KnownMethods: Sendable {
    private let names: Set<String>

    /// Creates a list of the methods of RFC 9110, of PATCH and QUERY, and of others.
    ///
    /// - Parameter others: The other methods, in the case in which they are sent.
    public init(adding others: [String] = []) {
        names = Set(
            [
                "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY",
                "TRACE",
            ] + others)
    }

    /// Returns the method, or nil if it isn't known.
    func name(of method: String) -> String? { names.contains(method) ? method : nil }
}
#endif
