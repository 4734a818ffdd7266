internal import HTTPTypes
internal import SignetPinning
internal import SignetTransport

/// A request as libcurl is told it, checked before any I/O.
final class RequestPlan: Sendable {
    /// What must match, and what a mismatch does.
    struct Pins: Sendable {
        var digests: [UInt8]
        var isEnforced: Bool
    }

    let host: HostName
    let port: Int
    let isSecure: Bool
    /// Scheme, host and port, with `/` and nothing more.
    let url: String
    /// What stands in the start line.
    let target: String
    let method: String
    let isHead: Bool
    let sendsBody: Bool
    let body: RequestBody
    /// Whether a request that may have reached the server may go out again (RFC 9110, section 9.2.2).
    let isRepeatable: Bool
    /// Lines as libcurl takes them, each ended by a zero byte.
    let fields: [UInt8]
    let connectTo: [UInt8]
    let proxy: Proxy?
    let policy: PinPolicy?
    let pins: Pins?
    /// The CAs that the policy's rule for the host brings.
    let authorities: PinAuthorities?
    /// The time of the policy's judgement, Unix seconds.
    let now: Int64
    let timeout: Duration
    let connectTimeout: Duration
    let maximumBodySize: Int

    /// Checks a request and asks its policy.
    ///
    /// - Throws: `TransportError`: `invalid-request`, or the policy's refusal.
    init(_ engineRequest: EngineRequest, now: Int64) throws(TransportError) {
        let request = engineRequest.request
        let scheme = (request.scheme ?? "https").lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw Self.invalid("the scheme is http or https")
        }
        guard let written = request.authority, !written.isEmpty else {
            throw Self.invalid("the request names no host")
        }
        let authority = try Self.authority(written)
        host = authority.host
        port = authority.port(scheme: scheme)
        isSecure = scheme == "https"
        url = "\(scheme)://\(host.uriText):\(port)/"
        let path = try Self.target(request.path, method: request.method)
        proxy = engineRequest.proxy
        // To a host without TLS an HTTP proxy is asked for the whole URL; to any other it opens a way.
        let isForwarded = scheme == "http" && proxy?.kind.isHTTP == true
        target = isForwarded ? "http://\(host.uriText):\(port)\(path == "*" ? "" : path)" : path
        method = request.method.rawValue
        guard request.method != .connect else { throw Self.invalid("CONNECT is not sent") }
        isHead = request.method == .head
        body = engineRequest.body
        let length = body.length
        guard !(isHead && length != 0) else { throw Self.invalid("a HEAD request has no body") }
        guard (length ?? 0) >= 0 else { throw Self.invalid("a body has no negative length") }
        sendsBody = length != 0 || [.post, .put, .patch].contains(request.method)
        isRepeatable = [.get, .head, .options, .put, .delete].contains(request.method)
        fields = try Self.fields(
            request, authority: written, bodyCount: length, sendsBody: sendsBody)
        connectTo = Self.lines(engineRequest.connectTo)
        policy = engineRequest.policy
        self.now = now
        pins = try Self.pins(
            engineRequest.policy, host: host, port: port, isSecure: isSecure, now: now)
        authorities = isSecure ? engineRequest.policy?.rule(for: host)?.authorities : nil
        timeout = engineRequest.timeout
        connectTimeout = engineRequest.connectTimeout
        maximumBodySize = max(engineRequest.maximumBodySize, 0)
    }

    /// Plans a handshake without a request.
    init(
        probing authority: Authority, connectTo: [EngineRequest.ConnectTo], proxy: Proxy?,
        timeout: Duration,
        now: Int64
    ) {
        host = authority.host
        port = authority.port(scheme: "https")
        isSecure = true
        url = "https://\(host.uriText):\(port)/"
        (target, method, isHead, sendsBody) = ("/", "GET", false, false)
        (body, isRepeatable, fields) = ([], true, [])
        (pins, policy, authorities) = (nil, nil, nil)
        self.connectTo = Self.lines(connectTo)
        self.proxy = proxy
        self.now = now
        self.timeout = timeout
        connectTimeout = timeout
        maximumBodySize = 0
    }

    /// What the policy says before any connection.
    private static func pins(
        _ policy: PinPolicy?, host: HostName, port: Int, isSecure: Bool, now: Int64
    ) throws(TransportError) -> Pins? {
        guard let policy else { return nil }
        let decision = policy.decision(for: host, isSecure: isSecure, now: now, port: port)
        if let refusal = decision.refusal { throw TransportError(refusal) }
        guard decision.isPinned, let rule = decision.rule else { return nil }
        return Pins(digests: rule.pins.flatMap(\.bytes), isEnforced: rule.mode == .enforce)
    }

    private static func authority(_ text: String) throws(TransportError) -> Authority {
        do {
            return try Authority(parsing: text)
        } catch {
            throw invalid(error.message)
        }
    }

    private static func target(_ path: String?, method: HTTPRequest.Method) throws(TransportError)
        -> String
    {
        guard let path, !path.isEmpty else { return "/" }
        guard path.utf8.first == UInt8(ascii: "/") || (path == "*" && method == .options) else {
            throw invalid("the path begins with \"/\"")
        }
        for byte in path.utf8 where byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "#") {
            throw invalid(
                "the path holds a space, a control character or \"#\": escape it with \"%\"")
        }
        return path
    }

    private static func fields(
        _ request: HTTPRequest, authority: String, bodyCount: Int64?, sendsBody: Bool
    ) throws(TransportError) -> [UInt8] {
        for byte in authority.utf8 where byte <= 0x20 || byte == 0x7F {
            throw invalid("the host holds a space or a control character")
        }
        var lines = Array("Host: \(authority)".utf8) + [0]
        lines.reserveCapacity(512)
        // What libcurl would add of its own, the last two to a body only.
        var (addsAccept, addsContentType, addsExpect) = (true, sendsBody, sendsBody)
        for field in request.headerFields {
            let name = field.name.canonicalName
            switch name {
            case "accept": addsAccept = false
            case "content-type": addsContentType = false
            case "expect": addsExpect = false
            case "host":
                guard field.value.utf8.elementsEqual(authority.utf8) else {
                    throw invalid("the field Host and the request's authority differ")
                }
                continue
            case "content-length":
                guard let bodyCount, field.value == String(bodyCount) else {
                    throw invalid(
                        "the field Content-Length is not the body's"
                            + " \(bodyCount.map { "\($0) bytes" } ?? "length, which is not known")")
                }
                continue
            case "proxy-authorization":
                throw invalid("the field Proxy-Authorization is the proxy's: set its credentials")
            case "transfer-encoding", "upgrade", "http2-settings", "proxy-connection", "trailer",
                "keep-alive":
                throw invalid(
                    "the field \(field.name.rawName) is the connection's, not a request's")
            case "connection" where !["close", "keep-alive"].contains(field.value.lowercased()):
                throw invalid("the field Connection is close or keep-alive")
            default: break
            }
            lines.append(contentsOf: field.name.rawName.utf8)
            let start = lines.count + 1
            // A colon alone would make libcurl drop the field; a semicolon makes it empty.
            lines.append(contentsOf: field.value.isEmpty ? ";".utf8 : ": ".utf8)
            unsafe field.withUnsafeBytesOfValue { unsafe lines.append(contentsOf: $0) }
            for byte in lines[start...] where byte < 0x20 && byte != 0x09 || byte == 0x7F {
                throw invalid("the field \(field.name.rawName) holds a control character")
            }
            lines.append(0)
        }
        if addsAccept { lines.append(contentsOf: "Accept:\0".utf8) }
        if addsContentType { lines.append(contentsOf: "Content-Type:\0".utf8) }
        if addsExpect { lines.append(contentsOf: "Expect:\0".utf8) }
        return lines
    }

    private static func lines(_ connectTo: [EngineRequest.ConnectTo]) -> [UInt8] {
        connectTo.flatMap { to in
            [
                to.host?.uriText ?? "", to.port.map { String($0) } ?? "",
                to.address?.uriText ?? "", to.addressPort.map { String($0) } ?? "",
            ].joined(separator: ":").utf8 + [0]
        }
    }

    private static func invalid(_ message: String) -> TransportError {
        TransportError(code: .invalidRequest, message: message)
    }
}
