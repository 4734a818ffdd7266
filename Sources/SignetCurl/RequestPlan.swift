import HTTPTypes
import SignetBase
import SignetPinning
import SignetTransport

/// A checked request in the form that the C code expects. It is created before any I/O.
final class RequestPlan: Sendable {
    /// The pins of the host.
    struct Pins: Sendable {
        var digests: [UInt8]
        var isEnforced: Bool
    }

    let origin: WebOrigin
    var host: HostName { origin.host }
    var port: Int { origin.port }
    var isSecure: Bool { origin.isSecure }
    /// The method, the request target, a URL of scheme, host, port and `/`, and the host. A zero
    /// byte ends each.
    let startLine: [UInt8]
    let method: String
    let isHead: Bool
    let sendsBody: Bool
    let body: HTTPRequestBody
    /// Whether the request may be sent twice if it may have reached the server (RFC 9110, section
    /// 9.2.2).
    let isRepeatable: Bool
    /// The field lines, each ended by a zero byte.
    let fields: [UInt8]
    /// The `ConnectTo` mappings as text, each ended by a zero byte.
    let connectTo: [UInt8]
    let proxy: Proxy?
    let policy: PinPolicy?
    let pins: Pins?
    /// The CAs of the policy's rule for the host.
    let authorities: PinAuthorities?
    /// The Unix time in seconds at which the policy is applied.
    let now: Int64
    let timeout: Duration
    let connectTimeout: Duration
    let maximumBodySize: Int

    /// Checks a request and applies its policy.
    ///
    /// - Throws: `TransportError`: `invalid-request`, or the policy's refusal.
    init(_ engineRequest: EngineRequest, now: Int64) throws(TransportError) {
        let request = engineRequest.request
        guard let authority = request.authority, !authority.isEmpty else {
            throw Self.invalid("the request has no host")
        }
        let origin = try WebOrigin(scheme: request.scheme ?? "https", authority: authority)
        self.origin = origin
        let path = try Self.target(request.path, method: request.method)
        proxy = engineRequest.proxy
        // An HTTP proxy gets the whole URL of an http request. For https it opens a tunnel.
        let isForwarded = !origin.isSecure && proxy?.kind.isHTTP == true
        let target =
            isForwarded
            ? "http://\(origin.host.uriText):\(origin.port)\(path == "*" ? "" : path)" : path
        method = request.method.rawValue
        startLine = Self.startLine(method: method, target: target, origin: origin)
        guard request.method != .connect else {
            throw Self.invalid("the method CONNECT is not supported")
        }
        isHead = request.method == .head
        body = engineRequest.body
        let length = body.length
        guard !(isHead && length != 0) else {
            throw Self.invalid("found a body in a HEAD request, expected none")
        }
        guard (length ?? 0) >= 0 else { throw Self.invalid("the body's length is negative") }
        (sendsBody, isRepeatable) =
            switch request.method {
            case .get, .head, .options, .delete: (length != 0, true)
            case .put: (true, true)
            case .post, .patch: (true, false)
            default: (length != 0, false)
            }
        // An ASCII authority is sent as written, because signatures cover it. Servers know an
        // internationalised name only by its A-labels.
        let isASCII = authority.utf8.allSatisfy { $0 < 0x80 }
        fields = try Self.fields(
            of: engineRequest, host: isASCII ? authority : origin.authority, sendsBody: sendsBody)
        connectTo = Self.lines(engineRequest.connectTo)
        policy = engineRequest.policy
        self.now = now
        let rule: PinRule?
        (pins, rule) = try Self.pins(of: engineRequest.policy, for: origin, now: now)
        authorities = origin.isSecure ? rule?.authorities : nil
        timeout = engineRequest.timeout
        connectTimeout = engineRequest.connectTimeout ?? .seconds(30)
        maximumBodySize = max(engineRequest.maximumBodySize, 0)
    }

    /// Plans a handshake without a request.
    init(
        probing authority: Authority, connectTo: [EngineRequest.ConnectTo], proxy: Proxy?,
        timeout: Duration, now: Int64
    ) {
        origin = WebOrigin(https: authority)
        (method, isHead, sendsBody) = ("GET", false, false)
        startLine = Self.startLine(method: method, target: "/", origin: origin)
        (body, isRepeatable, fields) = ([], true, [])
        (pins, policy, authorities) = (nil, nil, nil)
        self.connectTo = Self.lines(connectTo)
        self.proxy = proxy
        self.now = now
        self.timeout = timeout
        connectTimeout = timeout
        maximumBodySize = 0
    }

    /// Applies the policy before any connection. Returns the pins and the rule of the host.
    private static func pins(
        of policy: PinPolicy?, for origin: WebOrigin, now: Int64
    ) throws(TransportError) -> (Pins?, PinRule?) {
        guard let policy else { return (nil, nil) }
        let decision = policy.decision(
            for: origin.host, isSecure: origin.isSecure, now: now, port: origin.port)
        if let refusal = decision.refusal { throw TransportError(refusal) }
        guard decision.isPinned, let rule = decision.rule else { return (nil, decision.rule) }
        let pins = Pins(
            digests: rule.pins.flatMap(\.bytes), isEnforced: rule.mode == .enforce)
        return (pins, rule)
    }

    private static func target(
        _ path: String?, method: HTTPRequest.Method
    ) throws(TransportError) -> String {
        guard let path, !path.isEmpty else { return "/" }
        guard path.utf8.first == UInt8(ascii: "/") || (path == "*" && method == .options) else {
            throw invalid("the path does not begin with \"/\"")
        }
        for byte in path.utf8
        where byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "#")
            || byte == UInt8(ascii: "\\")
        {
            throw invalid(
                "the path contains a space, a control character, a backslash or \"#\": escape it"
                    + " with \"%\"")
        }
        return path
    }

    private static func startLine(method: String, target: String, origin: WebOrigin) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(256)
        for part in [
            method, "\0", target, "\0",
            origin.scheme, "://", origin.host.uriText, ":", String(origin.port), "/\0",
            origin.host.text, "\0",
        ] { line.append(contentsOf: part.utf8) }
        return line
    }

    private static func fields(
        of engineRequest: EngineRequest, host: String, sendsBody: Bool
    ) throws(TransportError) -> [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(512)
        lines.append(contentsOf: "Host: ".utf8)
        lines.append(contentsOf: host.utf8)
        lines.append(0)
        // Fields that libcurl would add itself, the last two only with a body.
        var (addsAccept, addsContentType, addsExpect) = (true, sendsBody, sendsBody)
        for field in engineRequest.request.headerFields where try engineRequest.sends(field) {
            switch field.name.canonicalName {
            case "accept": addsAccept = false
            case "content-type": addsContentType = false
            case "expect": addsExpect = false
            default: break
            }
            // With a colon and no value, libcurl would remove the field; a semicolon makes it
            // empty.
            try lines.append(field, separator: field.value.isEmpty ? ";" : ": ")
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
        TransportError(.invalidRequest, message)
    }
}
