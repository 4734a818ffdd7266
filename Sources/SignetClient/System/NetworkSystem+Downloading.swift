import HTTPTypes
import SignetRPC
import SignetTransport

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
    ///   response that is neither 200 nor 206, `malformed-response` for ranges that weren't asked
    ///   for, `wrong-digest`, `file-busy` if another process fetches into the same file,
    ///   `unwritable-file`, and those of every call.
    public func download(
        _ call: some TypedCall, to path: String, with download: Download = Download(),
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> Download.Result {
        let asked = CallTarget(call, options: options, isBoxed: false)
        return try await pipeline.admission.admit(asked) { context throws(ClientError) in
            let boxed = try context.box(
                CallRequest(of: call, reading: .any, as: context.options.json))
            let own = boxed.request
            guard own.method == .get else {
                throw ClientError(
                    .unsupportedCall, "found \(own.method) for a download, expected GET")
            }
            return try await self.pipeline.download(
                WebURL(of: context.request(boxed).request), fields: own.fields, to: path,
                with: download, in: context)
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
        _ service: ServiceName, target: String, to path: String,
        with download: Download = Download(),
        options: RequestOptions = RequestOptions()
    ) async throws(ClientError) -> Download.Result {
        let asked = CallTarget(
            service: service, method: HTTPRequest.Method.get.rawValue, options: options,
            isBoxed: false)
        return try await pipeline.admission.admit(asked) { call throws(ClientError) in
            try await self.pipeline.download(
                call.service.url.at(target: target), fields: [:], to: path, with: download,
                in: call)
        }
    }
}
