import FuzzSupport
import SignetJSON
import SignetRPC

/// A response's body is taken for the call that its id names by type and value, or refused; never
/// for another's. Each call of a batch has what the first response that names it says.

private let seeds = [
    #"{"jsonrpc":"2.0","id":1,"result":{"a":[1,2.5,"x"]}}"#,
    #"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":[1]}}"#,
    #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}"#,
    #"{"jsonrpc":"2.0","id":"1","result":1}"#, #"{"result":1,"error":null,"id":1}"#,
    #"{"jsonrpc":"2.0","id":1.0,"result":1}"#, #"{"result":null,"error":"no","id":"1"}"#,
    #"[{"jsonrpc":"2.0","id":2,"result":2},{"jsonrpc":"2.0","id":1,"result":1}]"#,
    #"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":1,"result":2}]"#,
    #"[{"jsonrpc":"2.0","id":"1","result":1},{"jsonrpc":"2.0","id":1,"result":2},"#
        + #"{"jsonrpc":"2.0","id":"3","result":3}]"#,
    #"[{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}},{"jsonrpc":"2.0","id":2},"#
        + #"{"jsonrpc":"2.0","id":"2","result":2},1]"#,
    "[]", "", "<html>",
]

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(seeds.enumerated().map { ("response\($0)", Array($1.utf8)) })
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let body = unsafe input(data, count)
    let value = try? JSONValue(parsing: body)
    for version in [JSONRPCAdapter.Version.v2, .v1] {
        for stringified in [false, true] {
            let oracle = ResponseOracle(version: version, acceptsStringified: stringified)
            // Ids that are numbers, and strings of the same digits.
            for isText in [false, true] {
                one(adapter(oracle, isText: isText), oracle, body, value)
                failed(adapter(oracle, isText: isText), oracle, body, value)
                if version == .v2 { batch(adapter(oracle, isText: isText), oracle, body, value) }
            }
        }
    }
    return 0
}

/// An adapter whose first ids are 1, 2, 3 or "1", "2", "3".
private func adapter(_ oracle: ResponseOracle, isText: Bool) -> JSONRPCAdapter {
    let numbers = RPCIDGenerator.counting()
    let texts = RPCIDGenerator(strings: {
        if case .number(let number) = try? numbers.next() { number.text } else { "" }
    })
    var adapter = JSONRPCAdapter(version: oracle.version, ids: isText ? texts : numbers)
    adapter.acceptsStringifiedNumericIDs = oracle.acceptsStringified
    return adapter
}

private func one(
    _ adapter: JSONRPCAdapter, _ oracle: ResponseOracle, _ body: [UInt8], _ value: JSONValue?
) {
    guard let request = try? adapter.box(RPCCall("orders.read")),
        let id = request.expected.ids.first.flatMap({ $0 })
    else { broken("a call cannot be boxed") }
    do throws(PayloadError) {
        let response = try adapter.unbox(RawResponse(status: 200, body: body), to: request)
        guard let value, oracle.names(value["id"], id) else {
            broken("another call's response was taken")
        }
        guard let result = response.result?.value, oracle.content(of: value) == .result(result)
        else {
            broken("a result that is not the response's")
        }
    } catch {
        guard let value else { return }
        let isOurs = oracle.names(value["id"], id)
        switch oracle.content(of: value) {
        case .result where isOurs: broken("the call's own result was refused")
        case .error where isOurs || value["id"] == .null:
            if error.code != .rpcError { broken("the call's own error is not told") }
        default: if error.code == .rpcError { broken("another call's error was taken") }
        }
    }
}

/// With a status that is not 2xx, what does not say that it is a response is kept as the body of an
/// error, and what says so is read before the status is judged.
private func failed(
    _ adapter: JSONRPCAdapter, _ oracle: ResponseOracle, _ body: [UInt8], _ value: JSONValue?
) {
    func code(_ status: Int, isBatch: Bool) -> PayloadError.Code? {
        let raw = RawResponse(status: status, body: body)
        do throws(PayloadError) {
            if isBatch {
                let request = try adapter.box(batch: [RPCCall("a"), RPCCall("b")])
                return try adapter.unboxBatch(raw, to: request).error?.code
            }
            _ = try adapter.unbox(raw, to: adapter.box(RPCCall("a")))
            return nil
        } catch {
            if error.code == .httpStatus, error.body != body { broken("a body was lost") }
            if "\(error)".contains(where: \.isNewline) { broken("an error of many lines") }
            return error.code
        }
    }
    let responses = value?.array ?? value.map { [$0] } ?? []
    if oracle.version == .v2 {
        let isSaid = responses.contains { $0["jsonrpc"] != nil }
        for isBatch in [false, true] where !isSaid {
            if code(503, isBatch: isBatch) != .httpStatus {
                broken("a body is no response, but taken")
            }
        }
    }
    if value?["jsonrpc"] != nil, code(503, isBatch: false) == .httpStatus {
        broken("a response was not read before the status")
    }
}

private func batch(
    _ adapter: JSONRPCAdapter, _ oracle: ResponseOracle, _ body: [UInt8], _ value: JSONValue?
) {
    let calls = [RPCCall("a"), RPCCall("b"), RPCCall("n", isNotification: true), RPCCall("c")]
    guard let request = try? adapter.box(batch: calls) else { broken("no batch can be boxed") }
    let raw = RawResponse(status: 200, body: body)
    guard let response = try? adapter.unboxBatch(raw, to: request) else {
        if value?.array != nil { broken("an array of responses was refused") }
        return
    }
    guard let value else { broken("what is no JSON was taken") }
    if response.outcomes.count != calls.count {
        broken("a batch has not one outcome for each call")
    }
    let responses = value.array ?? [value]
    let isRejected = responses.contains(where: oracle.rejects)
    for (id, outcome) in zip(request.expected.ids, response.outcomes) {
        guard let id else {
            if outcome != .notified { broken("a notification got a response") }
            continue
        }
        let own = responses.first { oracle.names($0["id"], id) }
        let content = own.map(oracle.content(of:))
        let isRight =
            switch outcome {
            case .result(let result): content == .result(result.value)
            case .failure(let error):
                content == (error.code == .rpcError ? .error : .malformed)
            case .rejected: content == nil && isRejected
            case .unanswered: content == nil && !isRejected
            case .notified: false
            }
        if !isRight { broken("a call of a batch has not what the first response to it says") }
    }
}
