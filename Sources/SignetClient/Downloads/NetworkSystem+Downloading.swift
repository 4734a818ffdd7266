internal import HTTPTypes
internal import SignetRPC
internal import SignetTransport

extension NetworkSystem {
    /// Fetches the response to a call into a file, which gets its name when it is whole.
    ///
    /// ```swift
    /// func fetch(with system: NetworkSystem) async throws {
    ///     _ = try await system.download(.get("/reports/7", on: "shop"), to: "report.pdf")
    /// }
    /// ```
    ///
    /// The received bytes are kept in a second file in the same folder, which only the user can
    /// read. If the connection breaks or the disk is full, that file stays, and the next run asks
    /// for the rest with `Range` and `If-Range`. If the resource has changed, the server sends all
    /// of it, and the download starts from the beginning. Each request is signed and its server is
    /// checked against the pins, like any other request. If the caller gives a digest or the server
    /// sends a Repr-Digest, the digest of the bytes on the disk is compared with it before the file
    /// gets its name. A wrong digest removes the received bytes.
    ///
    /// Redirects are followed by the service's `RedirectPolicy`, like those of calls. The rest is
    /// asked for only from the origin and path that the received bytes came from. If a redirect
    /// leads elsewhere, the download starts from the beginning, because an entity tag is valid only
    /// for its own URL.
    ///
    /// - Parameters:
    ///   - call: The call, whose method is GET: its path is below the service's base URL.
    ///   - path: The file; one that is there is replaced when the new one is whole.
    ///   - download: Digest, limits, mode. Its fields win over the call's.
    ///   - options: The options, which win over the call's own. An attempt continues where the one
    ///     before it was cut off.
    /// - Throws: `ClientError`: `unsupported-call` if the method isn't GET, `http-status` for a
    ///   response that is neither 200 nor 206, `malformed-reply` for ranges that weren't asked for,
    ///   `wrong-digest`, `file-busy` if another process fetches into the same file,
    ///   `unwritable-file`, and those of every call.
    public func download(
        _ call: some TypedCall, to path: String, with download: Download = Download(),
        options: CallOptions = CallOptions()
    ) async throws(ClientError) -> Download.Result {
        let asked = CallTarget(call, options: options, isBoxed: false)
        return try await admitted(asked) { context throws(ClientError) in
            let (boxed, base) = try context.box(
                Self.request(of: call, reading: .any, as: context.options.json))
            guard boxed.method == .get else {
                throw ClientError(
                    .unsupportedCall, "found \(boxed.method) for a download, expected GET")
            }
            let target = try context.request(boxed, at: base).request.path ?? base.target
            return try await self.download(
                base.at(target: target), fields: boxed.fields, to: path, with: download,
                for: context)
        }
    }

    /// Fetches a resource of the service's origin into a file, as `download(_:to:with:options:)`.
    ///
    /// - Parameters:
    ///   - service: The service whose base URL's origin, signing and limits of time apply.
    ///   - target: Path and query, beginning with `/`. They replace those of the base URL.
    ///   - path: The file; one that is there is replaced when the new one is whole.
    ///   - download: Digest, limits, mode.
    ///   - options: The call's options.
    /// - Throws: As `download(_:to:with:options:)`.
    public func download(
        _ service: Service, target: String, to path: String, with download: Download = Download(),
        options: CallOptions = CallOptions()
    ) async throws(ClientError) -> Download.Result {
        let asked = CallTarget(
            service: service, method: HTTPRequest.Method.get.rawValue, options: options,
            isBoxed: false)
        return try await admitted(asked) { context throws(ClientError) in
            try await self.download(
                context.service.url.at(target: target), fields: [:], to: path, with: download,
                for: context)
        }
    }

    private func download(
        _ url: WebURL, fields own: HTTPFields, to path: String, with download: Download,
        for context: CallContext
    ) async throws(ClientError) -> Download.Result {
        let reader = try DownloadReader(of: url, into: path, options: download)
        var fields = own
        for field in download.fields { fields[field.name] = nil }
        fields.append(contentsOf: download.fields)
        fields[.acceptEncoding] = "identity"
        fields[.range] = nil
        fields[.ifRange] = nil
        _ = try await send(
            context.request(.get, to: url, fields: fields, body: []), into: reader, for: context)
        return try await reader.result()
    }
}

/// Reads the responses of one download into its file.
private actor DownloadReader: ResponseReader {
    nonisolated let limit: Int
    private var run: DownloadRun?
    private var hasRestarted = false
    /// The number of parts that were shorter than `partSize` and not the last one. Each is a
    /// request that no limit of attempts counts.
    private var shortParts = 0
    private static let partSize: Int64 = 1 << 20
    private static let maximumShortParts = 100
    private var finished: Download.Result?
    /// Whether a response is being read. Then an interceptor may not send the call once more.
    private var isReading = false

    init(of url: WebURL, into path: String, options: Download) throws(ClientError) {
        // The limit is for the whole file, because the server may send all of it.
        limit = Int(max(options.maximumSize, 0))
        run = try DownloadRun(url, to: path, options: options)
    }

    /// The outcome, after all has been read.
    func result() throws(ClientError) -> Download.Result {
        guard let finished else { throw DownloadRun.malformed("the download has no response") }
        return finished
    }

    func prepare(_ request: HTTPRequest) throws(ClientError) -> HTTPRequest {
        guard !isReading else { throw Self.isRepeated }
        guard let request = try run?.asking(request) else { throw Self.isRepeated }
        return request
    }

    func read(
        _ response: EngineResponse, answering method: HTTPRequest.Method
    ) async throws(ClientError) -> ResponseReading {
        guard !isReading else { throw Self.isRepeated }
        isReading = true
        defer { isReading = false }
        do throws(ClientError) {
            switch try run?.begin(response.response) {
            case nil: throw Self.isRepeated
            case .again:
                guard !hasRestarted else {
                    throw DownloadRun.malformed(
                        "the server refuses the request for the whole file too")
                }
                hasRestarted = true
                return .unfinished
            case .body: break
            }
            var cut = try await take(response.body)
            if cut == nil {
                do throws(TransportError) {
                    guard try run?.isWhole() == true else { return try nextPart() }
                } catch {
                    cut = error
                }
            }
            if let cut {
                run?.keep()
                let continues =
                    run?.hasGrown == true && (cut.code == .cutOff || cut.code == .timeout)
                guard continues else { throw ClientError(cut) }
                return .partial(ClientError(cut))
            }
        } catch {
            run?.keep()
            throw error
        }
        finished = try run.take()?.finish(response.response)
        return .whole(
            RawResponse(
                status: response.response.status.code, fields: response.response.headerFields,
                body: []))
    }

    /// Returns `.unfinished`, so that the next part is requested.
    private func nextPart() throws(TransportError) -> ResponseReading {
        if run?.growth ?? 0 < Self.partSize { shortParts += 1 }
        guard shortParts <= Self.maximumShortParts else {
            throw TransportError(
                .malformedResponse,
                "the server sent more than \(Self.maximumShortParts) parts (206) of less than 1 MiB"
            )
        }
        return .unfinished
    }

    /// Writes the body into the part.
    ///
    /// - Returns: The error that ended the body early.
    private func take(_ body: ResponseBody) async throws(ClientError) -> TransportError? {
        do {
            for try await chunk in body { try run?.take(chunk) }
            return nil
        } catch let error as TransportError {
            return error
        } catch {
            throw error as? ClientError ?? DownloadRun.malformed("\(error)")
        }
    }

    private static var isRepeated: ClientError {
        ClientError(
            .interceptorFailed,
            "an interceptor sends a download again that is being read or has ended")
    }
}
