import FuzzSupport
import SignetJSON
import SignetRPC

/// A reply's body is taken for the call that was sent, or refused; never for another's, and a batch has
/// one outcome for each of its calls.

private let seeds = [
    #"{"jsonrpc":"2.0","id":1,"result":{"a":[1,2.5,"x"]}}"#,
    #"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":[1]}}"#,
    #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}"#,
    #"{"jsonrpc":"2.0","id":"1","result":1}"#, #"{"result":1,"error":null,"id":1}"#,
    #"[{"jsonrpc":"2.0","id":2,"result":2},{"jsonrpc":"2.0","id":1,"result":1}]"#,
    #"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":1,"result":2}]"#, "[]", "",
    "<html>",
]

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    Seeds.write(seeds.enumerated().map { ("reply\($0)", Array($1.utf8)) })
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let body = unsafe input(data, count)
    for version in [JSONRPCAdapter.Version.v2, .v1] {
        for stringified in [false, true] {
            var adapter = JSONRPCAdapter(version: version)
            adapter.acceptsStringifiedNumericIDs = stringified
            one(adapter, body)
            if version == .v2 { batch(adapter, body) }
        }
    }
    return 0
}

private func one(_ adapter: JSONRPCAdapter, _ body: [UInt8]) {
    guard let request = try? adapter.box(RPCCall("orders.read")) else {
        broken("a call cannot be boxed")
    }
    guard let reply = try? adapter.unbox(RawReply(status: 200, body: body), to: request) else {
        return
    }
    guard let result = reply.result, let value = try? JSONValue(parsing: body),
        value["result"] == result.value
    else { broken("a result that is not the reply's") }
    let sent = request.expected.ids.first.flatMap { $0 }.map { "\($0)" }
    let got = value["id"].map { $0.string ?? $0.text }
    if got == nil || sent?.contains(got ?? "") != true { broken("another call's reply was taken") }
}

private func batch(_ adapter: JSONRPCAdapter, _ body: [UInt8]) {
    let calls = [RPCCall("a"), RPCCall("b"), RPCCall("c")]
    guard let request = try? adapter.box(batch: calls) else { broken("no batch can be boxed") }
    let reply = try? adapter.unboxBatch(RawReply(status: 200, body: body), to: request)
    guard let reply else { return }
    if reply.outcomes.count != calls.count { broken("a batch has not one outcome for each call") }
}
