import HTTPTypes
import SignetBase
import SignetJSON

/// The rule by which a response equals a recorded one.
public enum ResponseRule: String, Sendable, Hashable {
    /// Status, media type, and the shape of the body: the names of members and the types of values.
    case shape
    /// The values of the body too.
    case values
}

/// Compares a request and its response with a recorded exchange. Both are redacted.
struct MessageComparison {
    let matching: ReplayMatching
    let rule: ResponseRule

    /// The differences of a request, as it was sent, to the recorded one.
    func differences(
        of request: RecordedExchange.Request, to recorded: RecordedExchange.Request
    ) -> [Difference] {
        var differences = RequestView(recorded, matching)
            .differences(to: RequestView(request, matching))
        for field in recorded.fields where isCompared(field) {
            let values = recorded.fields.values(of: field.name)
            let others = request.fields.values(of: field.name)
            let isAlike =
                values.count == others.count
                && zip(values, others).allSatisfy { RedactionMark.matches($0, $1) }
            let difference = Difference(
                "request.fields.\(field.name.lowercased())", others.isEmpty ? .missing : .differs)
            if !isAlike, !differences.contains(difference) { differences.append(difference) }
        }
        if differences.isEmpty, isComparedByBytes(recorded.body), request.body?.problem == nil,
            recorded.body?.bytes ?? [] != request.body?.bytes ?? []
        {
            differences.append(Difference("request.body", .differs))
        }
        return differences
    }

    /// Whether a body has nothing that may differ: no mark, and no member or value with a mask.
    private func isComparedByBytes(_ body: RecordedBody?) -> Bool {
        guard matching.parts.contains(.body) else { return false }
        guard let body else { return true }
        guard body.problem == nil, RedactionMark.all(in: body.bytes).isEmpty else { return false }
        var unmasked = matching
        unmasked.masks = []
        let request = RecordedExchange.Request(method: "", url: "", body: body)
        return RequestView(request, matching).parts == RequestView(request, unmasked).parts
    }

    /// Whether a field is the program's own, and not one that each request has another value of.
    private func isCompared(_ field: RecordedField) -> Bool {
        let name = field.name.lowercased()
        guard !name.startsWithBytes(of: ":"), !SentFields.ofConnections.contains(name) else {
            return false
        }
        return !matching.names.contain(field: name)
    }

    /// The differences of a response to the recorded one.
    func differences(
        of response: RecordedExchange.Response, to recorded: RecordedExchange.Response
    ) -> [Difference] {
        var differences: [Difference] = []
        if response.status != recorded.status {
            differences.append(
                Difference(
                    "response.status", .differs, recorded: "\(recorded.status)",
                    found: "\(response.status)"))
        }
        let (type, other) = (recorded.type.essence, response.type.essence)
        if !sameBytes(type, other) {
            differences.append(
                Difference("response.type", .differs, recorded: type, found: other))
        }
        return differences + self.differences(of: response.body, to: recorded.body)
    }

    private func differences(
        of body: RecordedBody?, to recorded: RecordedBody?
    ) -> [Difference] {
        // A body that isn't part of the recording can't be compared.
        if recorded?.problem != nil || body?.problem != nil { return [] }
        let (old, new) = (recorded?.bytes ?? [], body?.bytes ?? [])
        if let left = try? JSONValue(parsing: old), let right = try? JSONValue(parsing: new) {
            var comparison = TreeComparison(rule == .values ? .values : .shape)
            comparison.compare(left, right, at: "response.body")
            return comparison.differences
        }
        let isJSON = (try? JSONValue(parsing: old)) != nil
        let isAlike =
            rule == .values && !isJSON ? old == new : old.isEmpty == new.isEmpty && !isJSON
        return isAlike ? [] : [Difference("response.body", .differs)]
    }
}

extension RecordedExchange.Response {
    /// The media type of the body.
    fileprivate var type: MediaType { MediaType(fields[.contentType] ?? body?.mediaType ?? "") }
}

extension [RecordedField] {
    fileprivate func values(of name: String) -> [String] {
        let name = name.lowercased()
        return filter { $0.name.lowercased() == name }.map(\.value)
    }
}

/// The fields of a recorded request that are sent again.
enum SentFields {
    /// Fields that each connection sets, in lower case.
    static let ofConnections: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade",
        "proxy-connection", "http2-settings", "te", "trailer", "proxy-authorization", "expect",
    ]
    /// Fields of signatures, which are made again, in lower case.
    static let ofSignatures: Set<String> = [
        "signature", "signature-input", "signet-signature", "content-digest", "x-amz-date",
        "x-amz-content-sha256", "x-amz-security-token", "x-tc-timestamp", "x-acs-date",
        "x-acs-signature-nonce", "x-acs-content-sha256",
    ]
}
