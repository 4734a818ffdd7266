#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import SignetBase
import SignetTransport

/// Turns the errors of async-http-client and SwiftNIO into those of an engine. Their texts may
/// repeat fields' values, so only names of errors are taken from them.
struct ErrorMap: Sendable {
    /// Host and port.
    let origin: String
    /// Whether the engine was shut down.
    let isStopped: @Sendable () -> Bool

    private static let handshakeFailed = "the handshake failed, or the host is not trusted"
    static let notRunning = TransportError(.notRunning, "the engine has been shut down")
    static let noCAs = TransportError(
        .trustStore, "the CA file can't be read, or contains no certificate")

    func timeout(_ reason: String) -> TransportError {
        TransportError(.timeout, "\(origin): no response in time: \(reason)")
    }

    func malformed(_ what: String) -> TransportError {
        TransportError(.malformedResponse, "\(origin) sent an invalid response: found \(what)")
    }

    func tooLarge(_ limit: Int) -> TransportError {
        TransportError(.responseTooLarge, "\(origin) sent a body of more than \(limit) bytes")
    }

    func transportError(_ error: any Error) -> TransportError {
        switch error {
        case let error as TransportError: error
        case is CancellationError: ended
        case let error as HTTPClientError: transportError(error)
        case let error as NIOConnectionError: transportError(error)
        case let error as NIOSSLError: transportError(error)
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            tls("the certificate is not for this host")
        case is NIOSSLExtraError, is BoringSSLError: tls(Self.handshakeFailed)
        case HTTPParserError.invalidEOFState: cutOff("the response is cut short")
        case HTTPParserError.headerOverflow:
            TransportError(.responseTooLarge, "\(origin) sent a header that is too large")
        case is HTTPParserError: malformed("bytes that are not HTTP")
        case let error as ChannelError: transportError(error)
        case let error as IOError: transportError(error)
        default: cutOff("\(type(of: error))")
        }
    }

    private var ended: TransportError {
        isStopped() ? Self.notRunning : TransportError(.cancelled, "the call was cancelled")
    }

    private func cutOff(_ reason: String) -> TransportError {
        TransportError(.cutOff, "\(origin): the connection ended early: \(reason)")
    }

    private func tls(_ reason: String) -> TransportError {
        TransportError(.tls, "\(origin): TLS failed: \(reason)")
    }

    private func transportError(_ error: HTTPClientError) -> TransportError {
        switch error {
        case .cancelled: ended
        case .alreadyShutdown: Self.notRunning
        case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .tlsHandshakeTimeout,
            .getConnectionFromPoolTimeout:
            timeout(error.shortDescription)
        case .remoteConnectionClosed, .uncleanShutdown, .requestStreamCancelled:
            cutOff(error.shortDescription)
        case .bodyLengthMismatch:
            TransportError(.bodyLength, "the request's body doesn't have the expected length")
        case .invalidURL, .emptyHost, .emptyScheme, .traceRequestWithBody:
            TransportError(.invalidRequest, "\(origin): \(error.shortDescription)")
        default:
            error.shortDescription.startsWithBytes(of: "Invalid header")
                ? TransportError(.invalidRequest, "\(origin): \(error.shortDescription)")
                : cutOff(error.shortDescription)
        }
    }

    /// Without a name to resolve, the connection's error isn't wrapped in `NIOConnectionError`.
    private func transportError(_ error: IOError) -> TransportError {
        let refusals = [
            ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN, EADDRNOTAVAIL,
        ]
        guard refusals.contains(error.errnoCode) else {
            return cutOff("errno \(error.errnoCode)")
        }
        return TransportError(.connect, "\(origin): the connection failed")
    }

    private func transportError(_ error: NIOConnectionError) -> TransportError {
        guard let first = error.connectionErrors.first else {
            return TransportError(.unresolvedHost, "\(origin): the name could not be resolved")
        }
        if case .connectTimeout? = first.error as? ChannelError {
            return timeout("the connection was not made")
        }
        return TransportError(.connect, "\(origin): the connection failed")
    }

    private func transportError(_ error: NIOSSLError) -> TransportError {
        switch error {
        case .uncleanShutdown: cutOff("the end of TLS is missing")
        case .failedToLoadCertificate: Self.noCAs
        default: tls(Self.handshakeFailed)
        }
    }

    private func transportError(_ error: ChannelError) -> TransportError {
        if case .connectTimeout = error { return timeout("the connection was not made") }
        return cutOff("the channel was closed")
    }
}
#endif
