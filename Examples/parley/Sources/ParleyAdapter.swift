public import SignetClient

/// Parley 1, a protocol that nobody speaks but this example.
///
/// A call is `{"parley":1,"ask":METHOD,"with":{…},"ticket":TEXT}`, sent with POST to `/say`; what wants no
/// answer has `tell` in place of `ask`, and no ticket. The response repeats the ticket, and has either an
/// `answer` or a `regret` of `why` (a code), `words` and `more`.
public struct ParleyAdapter: PayloadAdapter {
    /// Makes an adapter.
    public init() {}

    /// Boxes a call. What the protocol cannot say is refused here, before anything is sent.
    public func box(_ call: RPCCall) throws(RPCError) -> BoxedRequest {
        let verb = call.isNotification ? "tell" : "ask"
        var body: JSONObject = ["parley": 1, (verb): .string(call.method.name)]
        switch call.parameters {
        case nil: break
        case .object(let members): body["with"] = .object(members)
        case .array:
            throw RPCError(
                code: .invalidParameters, message: "found parameters by position, expected names")
        }
        // A ticket that cannot be guessed is that of no other call.
        let ticket = String(UInt64.random(in: 0 ... .max), radix: 36)
        if !call.isNotification { body["ticket"] = .string(ticket) }
        return BoxedRequest(
            method: .post, path: "/say",
            fields: [.contentType: "application/parley+json", .accept: "application/parley+json"],
            body: JSONValue.object(body).serialized(),
            expected: .init(ids: [call.isNotification ? nil : .string(ticket)]))
    }

    /// Unboxes a response: the body first, then the status, because a regret comes with any of them.
    public func unbox(_ response: RawResponse, to request: BoxedRequest) throws(RPCError)
        -> UnboxedResponse
    {
        guard let ticket = request.expected.ids.first ?? nil else {
            guard response.isSuccess else { throw .httpStatus(response) }
            return UnboxedResponse(result: nil, status: response.status)
        }
        // Strictly: a member that stands there twice is no response.
        guard let members = (try? JSONValue(parsing: response.body))?.object, members["parley"] == 1
        else {
            guard response.isSuccess else { throw .httpStatus(response) }
            throw .malformedResponse("it is none of Parley 1", status: response.status)
        }
        guard members["ticket"] == ticket.json else {
            throw .malformedResponse("its ticket is not the call's", status: response.status)
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
            throw .malformedResponse("found not one of answer and regret", status: response.status)
        }
    }
}
