internal import CSignetCurl
internal import SignetCrypto
internal import SignetPinning
internal import SignetSystem
internal import SignetTransport

/// One of libcurl's transfers, with the shim's calls under safe names.
///
/// Used on the loop's thread only, and not after `giveBack()`.
@safe struct Transfer {
    private let handle: OpaquePointer

    fileprivate init(_ handle: OpaquePointer) { unsafe self.handle = handle }

    /// The number of the call that it carries.
    var identifier: UInt64 { unsafe signet_transfer_identifier(handle) }
    /// Whether the reply's header is there.
    var hasHead: Bool { unsafe signet_transfer_has_head(handle) }
    /// The length that the reply's header gives for its body, or -1.
    var contentLength: Int64 { unsafe signet_transfer_content_length(handle) }
    /// Whether libcurl is through with it.
    var isDone: Bool { unsafe signet_transfer_is_done(handle) }
    /// How it ended.
    var result: signet_result { unsafe signet_transfer_result(handle) }
    /// Whether the response is complete and the server reads no more of the upload.
    var isAnsweredEarly: Bool { unsafe signet_transfer_is_answered_early(handle) }
    /// Why this side ended it.
    var refusal: signet_refusal { unsafe signet_transfer_refusal(handle) }
    /// Whether OpenSSL trusted no chain of the handshake.
    var isUntrusted: Bool { unsafe signet_transfer_is_untrusted(handle) }
    /// Whether it ended before its proxy had opened the way to the host.
    var isAtProxy: Bool { unsafe signet_transfer_is_at_proxy(handle) }
    /// The status of the proxy's answer to CONNECT; 0 is none.
    var proxyStatus: Int { unsafe signet_transfer_proxy_status(handle) }
    /// libcurl's words for what went wrong.
    var message: String { unsafe String(cString: signet_transfer_message(handle)) }

    /// Ends it, whatever it is doing.
    func giveBack() { unsafe signet_transfer_give_back(handle) }

    /// Lets it go on if it stopped because its buffer was full.
    func resume() { unsafe signet_transfer_resume(handle) }

    /// The reply's start line and fields, line by line.
    func head() -> [UInt8] {
        var count = 0
        let bytes = unsafe signet_transfer_head(handle, &count)
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// A copy of the part of the body that waits here.
    func body() -> [UInt8] {
        var count = 0
        let bytes = unsafe signet_transfer_body(handle, &count)
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Forgets that part.
    func dropBody() { unsafe signet_transfer_drop_body(handle) }

    /// How long its parts took.
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

    /// The chain that was judged with its certificates, and the one that was sent: for reports.
    func certificates() -> (chain: [SeenCertificate], served: [[UInt8]]) {
        var known: [UInt64: [SeenCertificate]] = [:]
        let seen = chain(&known, limit: 1)
        guard let chain = unsafe signet_transfer_chain(handle) else { return (seen, []) }
        func der(_ index: Int, served: Bool) -> [UInt8] {
            var count = 0
            let bytes = unsafe signet_chain_der(chain, served, index, &count)
            defer { unsafe signet_der_free(bytes) }
            return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
        }
        let count = unsafe signet_chain_count(chain)
        let whole = seen.enumerated().map { index, certificate in
            SeenCertificate(
                subject: certificate.subject, pin: certificate.pin,
                der: index < count ? der(index, served: false) : [])
        }
        let served = unsafe signet_chain_served_count(chain)
        return (whole, (0..<served).map { der($0, served: true) })
    }

    /// The chain that was judged, each known chain read once.
    func chain(_ known: inout [UInt64: [SeenCertificate]], limit: Int) -> [SeenCertificate] {
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

    /// Whether the next piece of the request's body is wanted.
    var wantsUpload: Bool { unsafe signet_transfer_wants_upload(handle) }

    /// Whether that piece is the first one again; told once.
    func takeRestart() -> Bool { unsafe signet_transfer_take_restart(handle) }

    /// Gives it the next piece of the request's body; nil is the end.
    ///
    /// - Returns: False where memory ran out.
    func feed(_ chunk: [UInt8]?) -> Bool {
        unsafe (chunk ?? []).withUnsafeBufferPointer { bytes in
            unsafe signet_transfer_feed(handle, bytes.baseAddress, bytes.count, chunk == nil)
        }
    }

    /// Lets it see that a reply came before the request's body had ended.
    func wakeUpload() { unsafe signet_transfer_wake_upload(handle) }

    /// Tells libcurl all of a call and starts it.
    ///
    /// - Returns: False where memory ran out.
    func start(
        _ call: Call, milliseconds: Int64, waitsForMultiplexing: Bool,
        configuration: CurlEngine.Configuration
    ) -> Bool {
        let plan = call.plan
        let connect = min(plan.connectTimeout.wholeMilliseconds, milliseconds)
        guard setRequest(plan), setLists(plan), setPins(call, waitsForMultiplexing),
            setProxy(plan)
        else {
            return false
        }
        let isLimited = unsafe signet_transfer_set_limits(
            handle, milliseconds, connect, Int64(plan.maximumBodySize),
            Int64(max(configuration.maximumHeaderSize, 0)),
            Int32(min(max(configuration.maximumHeaderFields, 0), 65_534)))
        guard isLimited else { return false }
        return unsafe signet_transfer_start(handle)
    }

    private func setRequest(_ plan: RequestPlan) -> Bool {
        let bytes = plan.body.bytes
        let isSet = unsafe (bytes ?? []).withUnsafeBufferPointer { body in
            unsafe plan.start.withUnsafeBufferPointer { start in
                unsafe signet_transfer_set_request(
                    handle, start.baseAddress, plan.isHead, plan.sendsBody && bytes != nil,
                    body.baseAddress, body.count)
            }
        }
        unsafe signet_transfer_set_repeatable(handle, plan.isRepeatable)
        guard isSet, bytes == nil else { return isSet }
        return unsafe signet_transfer_set_upload(
            handle, plan.body.length ?? -1, plan.body.isReplayable)
    }

    private func setProxy(_ plan: RequestPlan) -> Bool {
        guard let proxy = plan.proxy else { return true }
        let tunnels = proxy.kind.isHTTP && plan.isSecure
        let isTLS = proxy.kind == .https
        guard var bytes = proxy.credentialBytes() else {
            return unsafe signet_transfer_set_proxy(
                handle, proxy.url, nil, nil, tunnels, isTLS, proxy.caFile)
        }
        defer { wipe(&bytes) }
        return unsafe bytes.withUnsafeBytes { bytes in
            guard let end = unsafe bytes.firstIndex(of: 0), let start = bytes.baseAddress else {
                return false
            }
            let user = unsafe start.assumingMemoryBound(to: CChar.self)
            return unsafe signet_transfer_set_proxy(
                handle, proxy.url, user, user + end + 1, tunnels, isTLS, proxy.caFile)
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

    private func setPins(_ call: Call, _ waitsForMultiplexing: Bool) -> Bool {
        guard let pins = call.plan.pins else {
            return unsafe signet_transfer_set_trust(
                handle, call.plan.isSecure, nil, 0, true, call.isProbe, !call.isProbe,
                waitsForMultiplexing)
        }
        return unsafe pins.digests.withUnsafeBufferPointer { digests in
            unsafe signet_transfer_set_trust(
                handle, call.plan.isSecure, digests.baseAddress, digests.count / 32,
                pins.isEnforced, call.isProbe, !call.isProbe, waitsForMultiplexing)
        }
    }
}

/// The shim's loop under safe names.
@safe struct LoopHandle: @unchecked Sendable {
    private let handle: OpaquePointer
    /// Whether its calls share connections over HTTP/2.
    let multiplexes: Bool

    /// Makes a loop; nil where the system gives no more.
    ///
    /// - Throws: `trust-store` where the CAs cannot be put together.
    init?(
        _ configuration: CurlEngine.Configuration, _ key: PoolKey
    ) throws(TransportError) {
        let trust = key.trust
        multiplexes = key.multiplexes
        var descriptor: Int32 = -1
        if let authorities = trust.authorities {
            var problem: Int32 = 0
            descriptor = unsafe authorities.pem.withUnsafeBufferPointer { pem in
                unsafe signet_trust_make(
                    trust.caFile, authorities.mode == .add, pem.baseAddress, pem.count, &problem)
            }
            guard descriptor >= 0 else {
                throw TransportError(
                    code: .trustStore,
                    message: "the CAs of \(authorities.file) cannot be used: "
                        + (unsafe String(cString: signet_error_text(problem))))
            }
        }
        guard
            let handle = unsafe signet_loop_new(
                trust.caFile, descriptor, configuration.offersHTTP2, key.multiplexes,
                configuration.maximumConnectionsPerHost)
        else { return nil }
        unsafe self.handle = handle
    }

    // From any thread.

    /// Ends a wait; nothing happens after `close()`.
    func wake() { unsafe signet_loop_wake(handle) }
    /// Opens or closes the watching thread's gate.
    func setGate(open: Bool) { unsafe signet_loop_set_gate(handle, open) }
    /// Waits until the gate is open, and a while more.
    func waitAtGate(milliseconds: Int32) { unsafe signet_loop_wait_at_gate(handle, milliseconds) }
    /// How long libcurl has been at one thing.
    var busyMilliseconds: Int64 { unsafe signet_loop_busy_milliseconds(handle) }
    /// How often libcurl has been called for sockets and timers.
    var calls: UInt64 { unsafe signet_loop_calls(handle) }
    /// Shuts the socket down that has kept libcurl for longer than a limit.
    func freeIfStuck(longerThan milliseconds: Int64) {
        _ = unsafe signet_loop_watch(handle, milliseconds)
    }

    // From the loop's thread.

    /// Says that the loop is about to wait.
    func willWait() { unsafe signet_loop_will_wait(handle) }
    /// Waits, perhaps, but not longer than so many milliseconds, and lets libcurl work.
    ///
    /// - Returns: Whether sockets had news.
    func step(mayWait: Bool, atMost milliseconds: Int32?) -> Bool {
        unsafe signet_loop_step(handle, mayWait, milliseconds ?? 60_000)
    }
    /// The next transfer that has news.
    func nextReady() -> Transfer? {
        guard let transfer = unsafe signet_loop_next_ready(handle) else { return nil }
        return unsafe Transfer(transfer)
    }
    /// A transfer for a call; nil where memory ran out.
    func take(_ identifier: UInt64) -> Transfer? {
        guard let transfer = unsafe signet_transfer_take(handle, identifier) else { return nil }
        return unsafe Transfer(transfer)
    }
    /// Releases all of libcurl and the system; from here on it may only be woken, and freed.
    func close() { unsafe signet_loop_close(handle) }
    /// Releases the rest too.
    func free() { unsafe signet_loop_free(handle) }
}

/// The clocks.
enum Clock {
    /// Monotonic milliseconds.
    static var milliseconds: Int64 { signet_monotonic_milliseconds() }
    /// Unix time in seconds.
    static var unixSeconds: Int64 { signet_unix_seconds() }
}
