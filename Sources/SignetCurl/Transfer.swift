import CSignetCurl
import SignetBase
import SignetPinning
import SignetSystem
import SignetTransport

/// A safe wrapper of one of the C code's transfers.
///
/// Used on the loop's thread only, and not after `release()`.
@safe struct Transfer {
    private let handle: OpaquePointer

    init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    /// The identifier of the transfer's call.
    var identifier: UInt64 { unsafe signet_transfer_identifier(handle) }
    /// Whether the response's header has arrived.
    var hasHead: Bool { unsafe signet_transfer_has_head(handle) }
    /// The response's Content-Length, or -1.
    var contentLength: Int64 { unsafe signet_transfer_content_length(handle) }
    /// Whether libcurl has finished the transfer.
    var isDone: Bool { unsafe signet_transfer_is_done(handle) }
    /// The result of a finished transfer.
    var result: signet_result { unsafe signet_transfer_result(handle) }
    /// Whether the response is complete and the server reads no more of the upload.
    var hasEarlyResponse: Bool { unsafe signet_transfer_has_early_response(handle) }
    /// The reason why the C code ended the transfer.
    var refusal: signet_refusal { unsafe signet_transfer_refusal(handle) }
    /// Whether OpenSSL did not trust the server's chain.
    var isUntrusted: Bool { unsafe signet_transfer_is_untrusted(handle) }
    /// Why the chain isn't trusted, if more is known than OpenSSL's text.
    var trustProblem: String? {
        unsafe signet_transfer_trust_problem(handle).map { unsafe String(cString: $0) }
    }
    /// Whether the transfer ended before its proxy had connected to the host.
    var isAtProxy: Bool { unsafe signet_transfer_is_at_proxy(handle) }
    /// The status of the proxy's response to CONNECT; 0 if there was none.
    var proxyStatus: Int { unsafe signet_transfer_proxy_status(handle) }
    /// libcurl's error message.
    var message: String { unsafe String(cString: signet_transfer_message(handle)) }

    /// Ends the transfer in any state, and releases it.
    func release() { unsafe signet_transfer_release(handle) }

    /// Continues the transfer if it was paused because its buffer was full.
    func resume() { unsafe signet_transfer_resume(handle) }

    /// Whether a byte of the request may have left.
    var wasSent: Bool { unsafe signet_transfer_was_sent(handle) }
    /// Whether the server asked for a client certificate.
    var wasAskedForCertificate: Bool { unsafe signet_transfer_was_asked(handle) }
    /// The number of the alert by which the server ended TLS, or -1.
    var alert: Int32 { unsafe signet_transfer_alert(handle) }

    /// Returns the response's start line and fields, line by line.
    func head() -> [UInt8] { unsafe Array(copying: signet_transfer_head(handle)) }

    /// Returns the lines of the trailers, after the body's end.
    func trailers() -> [UInt8] { unsafe Array(copying: signet_transfer_trailers(handle)) }

    /// Returns a copy of the next part of the body.
    func body() -> [UInt8] { unsafe Array(copying: signet_transfer_body(handle)) }

    /// Removes the part of the body that `body()` returned.
    func dropBody() { unsafe signet_transfer_drop_body(handle) }

    /// Returns the timings so far.
    func timings() -> Timings {
        var raw = signet_timings()
        unsafe signet_transfer_timings(handle, &raw)
        var timings = Timings()
        timings.nameResolved = .microseconds(raw.name_resolved)
        timings.connected = .microseconds(raw.connected)
        timings.tunnelled = .microseconds(raw.tunnelled)
        timings.secured = .microseconds(raw.secured)
        timings.total = .microseconds(raw.total)
        timings.bytesSent = raw.sent
        timings.bytesReceived = raw.received
        timings.firstByte = .microseconds(raw.first_byte)
        timings.reusedConnection = raw.reused
        return timings
    }

    /// Returns the verified chain with its certificates, and the chain as the server sent it.
    func certificates() -> (chain: [SeenCertificate], served: [[UInt8]]) {
        var known: [UInt64: [SeenCertificate]] = [:]
        let seen = chain(cache: &known, limit: 1)
        guard let chain = unsafe signet_transfer_chain(handle) else { return (seen, []) }
        let count = unsafe signet_chain_count(chain)
        let whole = seen.enumerated().map { index, certificate in
            SeenCertificate(
                subject: certificate.subject, pin: certificate.pin,
                der: index < count ? unsafe Self.der(index, of: chain, served: false) : [])
        }
        let served = unsafe signet_chain_served_count(chain)
        return (whole, (0..<served).map { unsafe Self.der($0, of: chain, served: true) })
    }

    /// Returns the certificate that a server or an HTTPS proxy sent and that isn't for its host, as
    /// DER; `nil` if there is none.
    func misnamedCertificate() -> [UInt8]? {
        guard let chain = unsafe signet_transfer_misnamed(handle) else { return nil }
        return unsafe Self.der(0, of: chain, served: false)
    }

    private static func der(_ index: Int, of chain: OpaquePointer, served: Bool) -> [UInt8] {
        var count = 0
        let bytes = unsafe signet_chain_der(chain, served, index, &count)
        defer { unsafe signet_der_free(bytes) }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Returns the verified chain. Uses and fills a cache of at most `limit` chains.
    func chain(cache known: inout [UInt64: [SeenCertificate]], limit: Int) -> [SeenCertificate] {
        guard let chain = unsafe signet_transfer_chain(handle) else { return [] }
        let identifier = unsafe signet_chain_identifier(chain)
        if let seen = known[identifier] { return seen }
        var seen: [SeenCertificate] = []
        for index in 0..<(unsafe signet_chain_count(chain)) {
            let digest = unsafe Array(
                UnsafeBufferPointer(start: signet_chain_digest(chain, index), count: 32))
            guard let pin = try? Pin(bytes: digest) else { continue }
            let subject = unsafe String(cString: signet_chain_subject(chain, index))
            seen.append(SeenCertificate(subject: subject, pin: pin))
        }
        if known.count >= limit { known = [:] }
        known[identifier] = seen
        return seen
    }

    /// Whether libcurl waits for the next piece of the request's body.
    var wantsUpload: Bool { unsafe signet_transfer_wants_upload(handle) }

    /// Whether the body must be read again from its start; `true` only once for each restart.
    func consumeRestart() -> Bool { unsafe signet_transfer_consume_restart(handle) }

    /// Passes the next piece of the request's body to libcurl; `nil` is the end.
    ///
    /// - Returns: `false` if memory ran out.
    func feed(_ chunk: [UInt8]?) -> Bool {
        unsafe (chunk ?? []).withUnsafeBufferPointer { bytes in
            unsafe signet_transfer_feed(handle, bytes.baseAddress, bytes.count, chunk == nil)
        }
    }

    /// Passes the end of the request's body to libcurl, and the lines of its trailers.
    ///
    /// - Returns: `false` if memory ran out.
    func feedEnd(trailers: [UInt8]) -> Bool {
        let isSet = unsafe trailers.withUnsafeBufferPointer { lines in
            unsafe signet_transfer_set_trailers(handle, lines.baseAddress, lines.count)
        }
        return isSet && feed(nil)
    }

    /// Lets libcurl notice a response that arrived before the end of the request's body.
    func wakeUpload() { unsafe signet_transfer_wake_upload(handle) }

    /// Configures the transfer for a call and starts it.
    ///
    /// - Returns: `false` if memory ran out.
    func start(
        _ call: Call, milliseconds: Int64, waitsForMultiplexing: Bool,
        configuration: EngineSettings
    ) -> Bool {
        let plan = call.plan
        let connect = min(plan.connectTimeout.wholeMilliseconds, milliseconds)
        guard setRequest(plan), setLists(plan),
            setPins(of: call, waitsForMultiplexing: waitsForMultiplexing), setProxy(plan)
        else {
            return false
        }
        let isLimited = unsafe signet_transfer_set_limits(
            handle, milliseconds, connect, Int64(plan.maximumBodySize),
            Int64(max(configuration.maximumHeaderSize, 0)),
            Int32(min(max(configuration.maximumHeaderFields, 0), 65_534)))
        return unsafe isLimited && signet_transfer_start(handle)
    }

    private func setRequest(_ plan: RequestPlan) -> Bool {
        let bytes = plan.body.bytes
        let isSet = unsafe (bytes ?? []).withUnsafeBufferPointer { body in
            unsafe plan.startLine.withUnsafeBufferPointer { start in
                unsafe signet_transfer_set_request(
                    handle, start.baseAddress, plan.isHead, plan.sendsBody && bytes != nil,
                    body.baseAddress, body.count, plan.isRepeatable)
            }
        }
        guard isSet, bytes == nil else { return isSet }
        return unsafe signet_transfer_set_upload(
            handle, plan.body.length ?? -1, plan.body.isReplayable, plan.body.hasTrailers)
    }

    private func setProxy(_ plan: RequestPlan) -> Bool {
        guard let proxy = plan.proxy else { return true }
        let tunnels = proxy.kind.isHTTP && plan.isSecure
        let host = proxy.kind == .https ? proxy.host.text : nil
        guard var bytes = proxy.credentialBytes() else {
            return unsafe signet_transfer_set_proxy(
                handle, proxy.url, nil, nil, tunnels, host, proxy.caFile)
        }
        defer { wipe(&bytes) }
        return unsafe bytes.withUnsafeBytes { bytes in
            guard let end = unsafe bytes.firstIndex(of: 0), let start = bytes.baseAddress else {
                return false
            }
            let user = unsafe start.assumingMemoryBound(to: CChar.self)
            return unsafe signet_transfer_set_proxy(
                handle, proxy.url, user, user + end + 1, tunnels, host, proxy.caFile)
        }
    }

    private func setLists(_ plan: RequestPlan) -> Bool {
        let hasFields = unsafe plan.fields.withUnsafeBufferPointer { lines in
            unsafe signet_transfer_set_fields(handle, lines.baseAddress, lines.count)
        }
        guard hasFields else { return false }
        return unsafe plan.connectTo.withUnsafeBufferPointer { lines in
            unsafe signet_transfer_set_connect_to(handle, lines.baseAddress, lines.count)
        }
    }

    private func setPins(of call: Call, waitsForMultiplexing: Bool) -> Bool {
        let pins = call.plan.pins
        guard unsafe signet_transfer_set_store(handle, call.trust.handle) else { return false }
        return unsafe (pins?.digests ?? []).withUnsafeBufferPointer { digests in
            unsafe signet_transfer_set_trust(
                handle, call.plan.isSecure, pins == nil ? nil : digests.baseAddress,
                digests.count / 32, pins?.isEnforced ?? true, call.isProbe, !call.isProbe,
                waitsForMultiplexing)
        }
    }
}

extension [UInt8] {
    /// Creates a copy of bytes that belong to the C code.
    fileprivate init(copying bytes: signet_bytes) {
        unsafe self.init(UnsafeBufferPointer(start: bytes.start, count: bytes.count))
    }
}
