import HTTPTypes
import SignetBase
import SignetCrypto
import SignetCurl
import SignetRPC
import SignetSystem
import SignetTransport

/// Sends the request of one attempt, and those that redirects lead to, all within one time limit.
/// Each is signed again while the call has not left its origin.
struct HopStage: Sendable {
    let engines: EngineSet
    /// The reporter of what the pin policy refuses; nil for the calls that send reports.
    var reporter: PinReporter?
    /// Other addresses for hosts.
    let connectTo: [EngineRequest.ConnectTo]
    /// The nearest addresses of services.
    let addresses: NearestAddresses
    let clock: SystemClock
    let log: CallLogger
    /// Nil for a system without a cache.
    var invalidation: CacheInvalidation?
    /// The observers of requests and responses, such as a recorder.
    let exchangeObservers = ExchangeObservers()

    /// Sends an attempt's request and follows redirects.
    ///
    /// - Returns: The final response, whose body has not been read.
    func run(
        _ call: OutgoingCall, with reader: any ResponseReader, noting attempt: Attempt,
        in context: CallContext
    ) async throws(ClientError) -> EngineResponse {
        attempt.endHop(in: context.log)
        var chain = RedirectChain(
            call.request, at: call.origin, policy: context.limits.redirects)
        var body = call.body
        var timeout = try context.limits.timeLeft(at: clock.instant)
        let end = MonotonicTime.now + timeout
        while true {
            var head = chain.request
            if reader.preparesRequests {
                head = try await reader.prepare(head, isRedirected: !chain.redirects.isEmpty)
            }
            // Another server chose the request after a redirect across origins.
            let cookies = chain.isWithinOrigin ? context.service.cookies(for: chain.url) : nil
            cookies?.add(to: &head, of: chain.url, at: clock.now())
            if !context.stubs.isEmpty { head = try await context.beforeSigning(head) }
            let request = FrozenRequest(url: chain.url, head: head, body: body)
            let signer = chain.isWithinOrigin ? context.service.signer : nil
            context.log.contents?.begin(.signing) {
                $0.message(request.head, body: request.body)
            }
            var signed = request
            if let signer { signed = try await self.signed(request, by: signer, in: context) }
            signed = try signed.sealed(by: context.service.sealer)
            context.log.contents?.end(.signing) {
                $0.message(signed.head, body: signed.body)
            } base: {
                signed.base(of: request, by: signer, without: $0)
            }
            attempt.noteRequest(request.head.method, isWithinOrigin: chain.isWithinOrigin)
            let opened: OpenedResponse
            do throws(ClientError) {
                opened = try await send(
                    signed, isSigned: signer != nil,
                    showing: chain.isWithinOrigin ? context.options.clientCertificate : nil,
                    in: context, attempt: attempt.number, within: timeout, limit: reader.limit)
            } catch {
                attempt.noteFailure(error)
                throw error
            }
            attempt.noteResponse(opened, to: request.head.method)
            cookies?.take(opened.response.response, from: request.url, at: clock.now())
            await invalidation?.apply(opened.response, to: request.head)
            guard opened.response.status / 100 == 3,
                let redirect = try redirect(
                    after: opened.response.response, to: request, sentAs: signed, in: &chain,
                    of: context)
            else { return opened.response }
            // Read, so that the connection can be used again; its content has no meaning.
            _ = try? await opened.response.body.collect(limit: Self.redirectLimit)
            attempt.endHop(in: context.log)
            if !redirect.keepsBody { body = [] }
            // Another origin gets no trailers, because they may hold secrets, as header fields may.
            if redirect.crossesOrigins { body = body.withoutTrailers() }
            timeout = end - .now
        }
    }

    var connectivity: Connectivity { addresses.connectivity }

    private static var redirectLimit: Int { 64 << 10 }

    /// Returns the redirect to follow, or nil if the response is final.
    ///
    /// - Parameter signed: The request as it was sent.
    /// - Throws: If the redirect isn't followed. The pins and the URL rules check its target.
    private func redirect(
        after response: HTTPResponse, to request: FrozenRequest, sentAs signed: FrozenRequest,
        in chain: inout RedirectChain, of context: CallContext
    ) throws(ClientError) -> Redirect? {
        let redirect: Redirect?
        do throws(TransportError) {
            redirect = try chain.follow(
                response.escapingLocation(),
                body: request.body.length == 0
                    ? .none : request.body.isReplayable ? .replayable : .once,
                pins: context.policy, now: UnixTime.now(),
                droppingParameters: signed.parametersAdded(to: request))
        } catch {
            // Nothing is reported if another rule than the policy refused the redirect.
            if let refusal = error.pinRefusal {
                reporter?.submit(refusal, port: refusal.port ?? 443, isEnforced: true)
            }
            throw ClientError(error, status: response.status.code)
        }
        guard let redirect else { return nil }
        let noted = CallRecord.Redirect(redirect)
        context.log.add(noted)
        context.send { .redirected($0, noted) }
        log.redirect(of: context.identity, redirect)
        try context.snapshot.urlRules.check(redirect.to)
        return redirect
    }

    private func signed(
        _ request: FrozenRequest, by signer: RequestSigner, in context: CallContext
    ) async throws(ClientError) -> FrozenRequest {
        let stage = context.log.begin(.signing)
        defer { context.log.end(stage) }
        return try await request.signed(by: signer, at: UnixTime.now())
    }
}

extension HTTPResponse {
    /// Returns the response with escapes in place of the bytes beyond ASCII if its Location isn't
    /// UTF-8.
    fileprivate func escapingLocation() -> HTTPResponse {
        let locations = headerFields.bytes(of: .location)
        guard locations.contains(where: { String(validating: $0, as: UTF8.self) == nil })
        else { return self }
        var response = self
        response.headerFields[values: .location] = locations.map { location in
            var escaped: [UInt8] = []
            PercentCoding.append(location[...], keeping: ASCIISet(allExcept: ""), to: &escaped)
            return String(decoding: escaped, as: UTF8.self)
        }
        return response
    }
}

extension FrozenRequest {
    /// Returns the query parameters that the signature added. A server may copy them into a
    /// redirect's URL.
    fileprivate func parametersAdded(to unsigned: FrozenRequest) -> Set<String> {
        guard head.path != unsigned.head.path else { return [] }
        return Self.parameters(head).subtracting(Self.parameters(unsigned.head))
    }

    private static func parameters(_ head: HTTPRequest) -> Set<String> {
        guard let path = head.path, let mark = path.firstIndex(of: "?") else { return [] }
        let pairs = path[path.index(after: mark)...].split(separator: "&")
        return Set(pairs.map { String($0.prefix { $0 != "=" }) })
    }
}
