internal import HTTPTypes
internal import Logging
internal import SignetBase
internal import SignetCrypto
internal import SignetRPC
internal import SignetSigning
internal import SignetTransport

extension NetworkSystem {
    /// One attempt: the request, and those that redirects lead to, all within one time limit. Each is
    /// signed anew as long as the call has not left its origin.
    ///
    /// - Parameter chain: Begun with the request; keeps what was followed, also where an error ends it.
    func exchange(
        _ request: FrozenRequest, for admission: Admission, _ chain: inout RedirectChain
    ) async throws(ClientError) -> RawResponse {
        var request = request
        var timeout = try admission.rules.timeLeft()
        let end = ContinuousClock.now + timeout
        admission.trace?.begin()
        while true {
            let signer = chain.isWithinOrigin ? admission.service.signer : nil
            let signed = try await signed(request, by: signer)
            let reply = try await send(
                signed, isSigned: signer != nil, for: admission, within: timeout)
            let redirect = try follow(
                HTTPResponse(status: .init(code: reply.status), headerFields: reply.fields),
                to: request, sentAs: signed, for: admission, &chain)
            guard let redirect else { return reply }
            request.head = chain.request
            if !redirect.keepsBody { request.body = [] }
            timeout = end - .now
        }
    }

    /// The redirect that a reply is, where it is followed; nil where the reply is the answer.
    ///
    /// - Parameter signed: What became of the request before it was sent.
    /// - Throws: Why it is not followed; where it leads is judged by the pins and the URL rules.
    func follow(
        _ response: HTTPResponse, to request: FrozenRequest, sentAs signed: FrozenRequest,
        for admission: Admission, _ chain: inout RedirectChain
    ) throws(ClientError) -> Redirect? {
        let redirect: Redirect?
        do throws(TransportError) {
            redirect = try chain.follow(
                response,
                body: request.body.length == 0
                    ? .none : request.body.isReplayable ? .replayable : .once,
                pins: admission.snapshot.policy, now: UnixTime.now(),
                droppingParameters: signed.parametersAdded(to: request))
        } catch {
            reportRefusedRedirect(error)
            throw ClientError(error, status: response.status.code)
        }
        guard let redirect else { return nil }
        admission.trace?.add(redirect)
        logger.debug(
            "redirect", metadata: ["status": "\(redirect.status)", "to": "\(redirect.to)"])
        try admission.snapshot.urlRules.check(
            RequestURL("\(redirect.to.origin)\(redirect.to.target)"))
        return redirect
    }

    func signed(
        _ request: FrozenRequest, by signer: MessageSigner?
    ) async throws(ClientError) -> FrozenRequest {
        guard let signer else { return request }
        return try await request.signed(by: signer, at: UnixTime.now())
    }
}

extension FrozenRequest {
    /// The names of the query's parameters that this request has and another has not: what its
    /// signature put there, which a server may hand back in a redirect.
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
