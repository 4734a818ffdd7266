public import SignetClient

/// An adapter for Parley 1, a protocol that only this example uses.
///
/// A call is `{"parley":1,"ask":METHOD,"with":{…},"ticket":TEXT}`, sent with POST to `/say`. A
/// notification has `tell` in place of `ask`, and no ticket. The response repeats the ticket, and
/// has either an `answer` or a `regret` with `why` (a code), `words` and `more`.
public struct ParleyAdapter: PayloadAdapter {
    /// Creates an adapter.
    public init() {}

    /// Boxes a call. If the protocol cannot express it, this throws before anything is sent.
    public func box(_ call: RPCCall) throws(PayloadError) -> BoxedRequest {
        let verb = call.isNotification ? "tell" : "ask"
        var body: JSONObject = ["parley": 1, (verb): .string(call.method.name)]
        switch call.parameters {
        case nil: break
        case .object(let members): body["with"] = .object(members)
        case .array:
            throw PayloadError(
                .invalidParameters, "found parameters by position, expected them by name")
        }
        // A random ticket cannot be guessed and belongs to no other call.
        let ticket = String(UInt64.random(in: 0 ... .max), radix: 36)
        if !call.isNotification { body["ticket"] = .string(ticket) }
        return BoxedRequest(
            method: .post, path: "/say",
            fields: [.contentType: "application/parley+json", .accept: "application/parley+json"],
            body: JSONValue.object(body).serialized(),
            expected: .init(ids: [call.isNotification ? nil : .string(ticket)]))
    }

    /// Unboxes a response: first the body, then the status, because a regret may have any status.
    public func unbox(_ response: RawResponse, to request: BoxedRequest) throws(PayloadError)
        -> UnboxedResponse
    {
        guard let ticket = request.expected.ids.first ?? nil else {
            guard response.isSuccess else { throw .httpStatus(response) }
            return UnboxedResponse(result: nil, status: response.status)
        }
        // Parse strictly: a duplicate member makes the response invalid.
        guard let members = (try? JSONValue(parsing: response.body))?.object, members["parley"] == 1
        else {
            guard response.isSuccess else { throw .httpStatus(response) }
            throw .malformedResponse("it is not a Parley 1 message", status: response.status)
        }
        guard members["ticket"] == ticket.json else {
            throw .malformedResponse("its ticket is not the call's ticket", status: response.status)
        }
        switch (members["answer"], members["regret"]?.object) {
        case (let answer?, nil) where members["regret"] == nil && response.isSuccess:
            return UnboxedResponse(result: RPCResult(answer), status: response.status)
        case (nil, let regret?):
            throw .rpcError(
                RPCServerError(
                    textCode: regret["why"]?.string ?? "", message: regret["words"]?.string ?? "",
                    data: regret["more"]), status: response.status)
        default:
            throw .malformedResponse(
                "expected exactly one of answer and regret", status: response.status)
        }
    }
}
