internal import Logging
internal import SignetCrypto
internal import SignetSigning
internal import SignetTransport

extension NetworkSystem {
    /// Fetches a resource into a file, which gets its name when it is whole.
    ///
    /// What came lies beside the file, private to the user. A run that is cut off, or finds the disk full,
    /// leaves it, and the next one asks for the rest: with `Range` and `If-Range`, so that a server whose
    /// resource has changed sends the whole again, and all begins anew. Each request is signed by itself and
    /// its server's keys are judged, as any other. A digest, the caller's or the server's Repr-Digest, is
    /// computed over what is on the disk before the file gets its name; one that does not fit removes the
    /// part.
    ///
    /// Redirects are followed by the service's `RedirectPolicy`, as those of calls. The rest is asked for
    /// only where the bytes that are there came from: led to another origin or path, a download begins anew,
    /// for an entity tag means nothing elsewhere.
    ///
    /// - Parameters:
    ///   - service: The service whose base URL's origin, signing and limits of time apply.
    ///   - target: Path and query, beginning with `/`.
    ///   - path: The file; one that is there is replaced when the new one is whole.
    ///   - options: Digest, limits, mode.
    ///   - scenario: Whose limits hold; nil for the service's own. Its attempts go on where the one before was
    ///     cut off.
    ///   - trace: Where requests, redirects and timings are written down; nil for nowhere. Each request for
    ///     the rest is an attempt.
    /// - Throws: `ClientError`: `http-status` for a reply that is neither 200 nor 206, `malformed-reply` for
    ///   ranges that nobody asked for, `wrong-digest`, `file-busy` where another process fetches into the
    ///   same file, `unwritable-file`, and those of every call.
    public func download(
        _ service: Service, target: String, to path: String, _ options: Download = Download(),
        scenario: Scenario? = nil, trace: CallTrace? = nil
    ) async throws(ClientError) -> Download.Result {
        try await admitted(service, scenario, trace: trace) { admission throws(ClientError) in
            var admission = admission
            admission.rules.redirects.changesMethod =
                admission.service.configuration.redirects.changesMethod
            let url = try admission.service.url.at(target: target)
            try admission.snapshot.urlRules.check(url)
            return try await self.fetch(url, to: path, options, admission)
        }
    }

    private func fetch(
        _ url: RequestURL, to path: String, _ options: Download, _ admission: Admission
    ) async throws(ClientError) -> Download.Result {
        var run = try DownloadRun(url, path, options)
        var attempt = 1
        var hasRestarted = false
        while true {
            let opened = try await reply(to: &run, options, admission)
            let response = opened.reply
            var failure: ClientError?
            var cut: TransportError?
            var isWhole = false
            do throws(ClientError) {
                switch try run.begin(response.response) {
                case .again:
                    admission.trace?.add(opened.hop())
                    guard !hasRestarted else {
                        throw DownloadRun.malformed(
                            "the server refuses the whole as it did the rest")
                    }
                    hasRestarted = true
                    continue
                case .body: break
                }
                do {
                    for try await chunk in response.body { try run.take(chunk) }
                    isWhole = try run.isWhole()
                } catch let error as TransportError {
                    cut = error
                } catch {
                    throw error as? ClientError ?? DownloadRun.malformed("\(error)")
                }
            } catch {
                failure = error
            }
            let code = failure?.code.name ?? cut?.code.name
            admission.trace?.add(opened.hop(failure: code))
            if failure == nil, cut == nil {
                if isWhole { return try run.finish(response.response) }
                continue  // less than was asked for, but some of it
            }
            run.keep()
            if let failure { throw failure }
            let isWorthwhile =
                attempt < admission.rules.attempts && run.hasGrown
                && (cut?.code == .cutOff || cut?.code == .timeout)
            if let cut, !isWorthwhile { throw ClientError(cut) }
            attempt += 1
            logger.info("going on", metadata: ["from": "\(run.offset)"])
        }
    }

    /// Asks for what is missing, follows redirects, and returns when the header of the answer has come.
    private func reply(
        to run: inout DownloadRun, _ options: Download, _ admission: Admission
    ) async throws(ClientError) -> OpenedReply {
        var chain: RedirectChain
        do throws(TransportError) {
            chain = try RedirectChain(run.head, policy: admission.rules.redirects)
        } catch {
            throw ClientError(error)
        }
        var timeout = try admission.rules.timeLeft()
        let end = ContinuousClock.now + timeout
        admission.trace?.begin()
        while true {
            let request = FrozenRequest(head: try run.asking(chain.request), body: [])
            let signer = chain.isWithinOrigin ? admission.service.signer : nil
            let signed = try await signed(request, by: signer)
            let opened = try await open(
                signed, isSigned: signer != nil, for: admission, within: timeout,
                // Of the whole, which may come in place of the rest.
                limit: max(options.maximumSize, 0))
            let redirect: Redirect?
            do throws(ClientError) {
                redirect = try follow(
                    opened.reply.response, to: request, sentAs: signed, for: admission, &chain)
            } catch {
                admission.trace?.add(opened.hop())
                throw error
            }
            guard redirect != nil else { return opened }
            admission.trace?.add(opened.hop())
            timeout = end - .now
        }
    }
}
