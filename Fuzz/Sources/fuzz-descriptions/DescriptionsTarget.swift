import FuzzSupport
import SignetJSON
import SignetRPC
import SignetServiceDescription

/// An OpenRPC or OpenAPI document is refused with a message, or each of its methods says of any parameters
/// whether they fit. Behind a zero byte are parameters.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    let rpc =
        ##"{"openrpc":"1.2.6","info":{"title":"t"},"methods":[{"name":"a","paramStructure":"by-name","##
        + ##""params":[{"name":"x","required":true,"schema":{"$ref":"#/components/schemas/s"}}]},"##
        + ##"{"name":"b","params":[{"$ref":"#/components/contentDescriptors/c"}]}],"components":{"schemas":"##
        + ##"{"s":{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"##
        + ##""additionalProperties":false}},"contentDescriptors":{"c":{"name":"y","schema":"##
        + ##"{"oneOf":[{"enum":["a"]},{"type":["array","null"],"items":{"$ref":"#/x"}}]}}}}}"##
    let api =
        ##"{"openapi":"3.1.0","info":{"title":"t"},"paths":{"/o/{id}":{"parameters":[{"name":"id","##
        + ##""in":"path","required":true,"schema":{"type":"string"}}],"post":{"operationId":"p","##
        + ##""parameters":[{"name":"q","in":"query","schema":{"type":"array","items":{"type":"number"}}},"##
        + ##"{"name":"X-A","in":"header","schema":{"type":"boolean"}},{"name":"c","in":"cookie"}],"##
        + ##""requestBody":{"required":true,"content":{"application/json":{"schema":{"type":"object","##
        + ##""properties":{"n":{"anyOf":[{"type":"integer"},{"type":"null"}]}}}},"multipart/form-data":{}}}}}}}"##
    Seeds.write(
        Seeds.texts([
            rpc + "\0{\"x\":{\"n\":0}}", rpc + "\0[1]", api + "\0{\"id\":\"1\",\"q\":[1],\"n\":2}",
            api,
        ]))
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    let parts = parts(of: input, 2)
    let description: ServiceDescription
    do throws(PayloadError) {
        description = try ServiceDescription(parsing: parts[0])
    } catch {
        checkMessage(error.message, of: "a description")
        return 0
    }
    let given = (try? JSONValue(parsing: parts[1])).flatMap { try? RPCParameters($0) }
    let isPlain = !Planted.isHeld(in: input)
    for method in description.methods.prefix(32) {
        let object = JSONValue.object(method.object)
        guard (try? JSONValue(parsing: object.serialized())) == object else {
            broken("a method's description is not read as it was")
        }
        checkMessage(method.line + ".", of: "a method's line")
        guard (try? description.method(named: method.name)) != nil else {
            broken("a method is not found by its name")
        }
        check(method, given, nil)
        _ = description.adapter(for: method)
        guard isPlain else { continue }
        // A body's values may be somebody's.
        let names = method.parameters.map(\.name) + ["n", "x"]
        let secret = JSONValue.object(
            JSONObject(names.map { (name: $0, value: .string(Planted.secret)) }))
        for body in [SuppliedBody(RESTBody.json(secret)), SuppliedBody(RESTBody.json([secret]))] {
            check(method, given, body)
        }
    }
    return 0
}

private func check(_ method: MethodDescription, _ given: RPCParameters?, _ body: SuppliedBody?) {
    do throws(PayloadError) {
        try method.check(given, body: body)
    } catch {
        if body == nil {
            checkMessage(error.message, of: "parameters")
        } else {
            Planted.check(error.message, of: "a body")
        }
    }
}
