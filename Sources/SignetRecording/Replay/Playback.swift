import HTTPTypes
import SignetBase
import SignetJSON
import SignetPinning
import SignetTransport

/// Makes the response of a recorded exchange.
struct Playback {
    private let exchange: RecordedExchange
    private let request: RecordedExchange.Request
    private let source: ResponseSource

    /// - Parameter request: The request that is responded to, not redacted.
    init(
        _ exchange: RecordedExchange, of request: RecordedExchange.Request,
        as source: ResponseSource
    ) {
        self.exchange = exchange
        self.request = request
        self.source = source
    }

    /// - Throws: `TransportError`: a refusal of the pin policy; the recorded failure, also of a
    ///   body that was cut off; `not-recorded` if the body isn't part of the recording.
    func response(to request: EngineRequest) throws(TransportError) -> EngineResponse {
        let verdict = try verdict(by: request)
        guard let recorded = exchange.response else { throw failure("got no response") }
        if recorded.body?.bytes.isEmpty != false,
            exchange.failure.map(ReplayedFailure.isKnown) == true
        {
            throw failure("failed after its response began")
        }
        if let problem = recorded.body?.problem, recorded.body?.bytes.isEmpty != false {
            throw TransportError(.notRecorded, "the recorded response has no body: \(problem)")
        }
        var response = EngineResponse(
            response: HTTPResponse(
                status: HTTPResponse.Status(
                    code: recorded.status, reasonPhrase: recorded.reason),
                headerFields: fields(of: recorded, answering: request.request.method)),
            body: HTTPResponseBody(bytes: body(of: recorded)),
            httpVersion: Self.version(recorded.httpVersion), verdict: verdict,
            peerChain: verdict?.seen ?? [])
        response.isMadeUp = true
        response.source = source
        return response
    }

    private func failure(_ words: String) -> TransportError {
        let name = exchange.failure ?? "unknown"
        let reason = exchange.message.map { ": \(printable($0))" } ?? ""
        return TransportError(
            ReplayedFailure.code(named: name),
            "the recorded request \(words) (\(printable(name))\(reason))")
    }

    // MARK: Pins

    /// Compares the recorded chain with the policy of this request, as an engine does with a
    /// server's.
    private func verdict(by request: EngineRequest) throws(TransportError) -> PinVerdict? {
        guard let policy = request.policy else { return nil }
        let url = try WebURL(request.request)
        let decision = policy.decision(
            for: url.origin.host, isSecure: url.origin.isSecure, port: url.origin.port)
        if let refusal = decision.refusal { throw TransportError(refusal) }
        guard decision.isPinned, let seen = exchange.pins?.seen,
            // Without a chain, the request was refused before it was sent.
            exchange.response != nil || !seen.isEmpty
        else { return nil }
        let chain = seen.compactMap { text in
            (try? Pin(parsing: text)).map { SeenCertificate(subject: "", pin: $0) }
        }
        let verdict = policy.verdict(for: url.origin.host, chain: chain, port: url.origin.port)
        if let refusal = verdict.refusal { throw TransportError(refusal) }
        return verdict
    }

    // MARK: The message

    /// The recorded fields, without those that describe bytes which aren't the recorded ones:
    /// codings were undone, secrets replaced.
    private func fields(
        of response: RecordedExchange.Response, answering method: HTTPRequest.Method
    ) -> HTTPFields {
        let isChanged = response.body?.encodedSize != nil || hasMarks(response.body)
        var fields = HTTPFields()
        for field in response.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            switch name.canonicalName {
            case "content-encoding", "transfer-encoding", "trailer", "connection", "keep-alive":
                if response.body != nil { continue }
            case "content-length" where method != .head && response.body != nil:
                fields[.contentLength] = String(body(of: response).count)
                continue
            case "content-digest", "repr-digest", "digest", "content-md5":
                if isChanged { continue }
            default: break
            }
            fields.append(HTTPField(name: name, value: field.bytes))
        }
        return fields
    }

    private func hasMarks(_ body: RecordedBody?) -> Bool {
        body.map { !RedactionMark.all(in: $0.bytes).isEmpty } ?? false
    }

    private static func version(_ text: String?) -> EngineResponse.HTTPVersion {
        let text = text?.lowercased() ?? ""
        if text.endsWithBytes(of: "3") { return .init(major: 3, minor: 0) }
        let isSecond = text.endsWithBytes(of: "/2") || text.endsWithBytes(of: "/2.0")
        return isSecond || text == "h2" ? .init(major: 2, minor: 0) : .init(major: 1, minor: 1)
    }

    /// The recorded body, with the ids of this request in place of the recorded ones.
    private func body(of response: RecordedExchange.Response) -> [UInt8] {
        guard let body = response.body else { return [] }
        let ids = zip(
            RPCIDs.of(exchange.request.body), RPCIDs.of(request.body)
        ).filter { $0.0 != $0.1 }
        guard !ids.isEmpty, let document = try? JSONReader(body.bytes) else { return body.bytes }
        return RPCIDs.replacing(Array(ids), in: document)
    }
}

/// The ids of JSON-RPC calls.
enum RPCIDs {
    /// Returns the ids of a call or of a batch, in their order; empty for another body.
    static func of(_ body: RecordedBody?) -> [JSONValue] {
        guard let body, let first = body.bytes.first(where: { $0 > ASCII.space }),
            first == ASCII.leftBrace || first == ASCII.leftBracket,
            let value = try? JSONValue(parsing: body.bytes)
        else { return [] }
        return (value.array ?? [value]).compactMap { call in
            call["method"]?.string == nil ? nil : call["id"]
        }
    }

    /// Returns a response, or a batch of them, with other ids.
    static func replacing(
        _ ids: [(recorded: JSONValue, live: JSONValue)], in document: JSONReader
    ) -> [UInt8] {
        let isBatch = document.root.kind == .array
        let responses = isBatch ? document.elements(of: document.root) : [document.root]
        var result: [UInt8] = []
        var kept = 0
        for response in responses {
            for member in document.members(of: response)
            where document.isString(member.name, equalTo: "id") {
                let id = document.value(member.value)
                guard let live = ids.first(where: { $0.recorded == id })?.live else { continue }
                result += document.bytes[kept..<member.value.range.lowerBound]
                result += live.serialized()
                kept = member.value.range.upperBound
            }
        }
        return result + document.bytes[kept...]
    }
}
