import HTTPTypes
import SignetRPC
import SignetTransport

extension CallPipeline {
    /// Fetches a resource into a file.
    ///
    /// - Parameter own: The fields of the request, without those of the download.
    func download(
        _ url: WebURL, fields own: HTTPFields, to path: String, with download: Download,
        in context: CallContext
    ) async throws(ClientError) -> Download.Result {
        let reader = try DownloadReader(of: url, into: path, options: download)
        var fields = own
        for field in download.fields { fields[field.name] = nil }
        fields.append(contentsOf: download.fields)
        fields[.acceptEncoding] = "identity"
        fields[.range] = nil
        fields[.ifRange] = nil
        _ = try await exchange(
            PendingCall.Exchange(method: .get, target: url.target, body: []), at: url,
            fields: fields, into: reader, in: context)
        return try await reader.result()
    }
}

/// Reads the responses of one download into its file.
private actor DownloadReader: ResponseReader {
    nonisolated let limit: Int
    /// A part of a file may be there already, which no cache knows of.
    nonisolated var usesCache: Bool { false }
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

    func prepare(
        _ request: HTTPRequest, isRedirected: Bool
    ) throws(ClientError) -> HTTPRequest {
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
    private func take(_ body: HTTPResponseBody) async throws(ClientError) -> TransportError? {
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
