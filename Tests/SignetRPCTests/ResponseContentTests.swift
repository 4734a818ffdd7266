import HTTPTypes
import SignetJSON
import SignetRPC
import Testing

/// Responses that aren't JSON, for callers that read any content and for those that don't.
@Suite struct ResponseContentTests {
    private static let picture = RawResponse(
        status: 200, fields: [.contentType: "image/png"], body: [0x89, 0x50, 0x4E, 0x47])

    private static func boxed(
        by adapter: some RESTBoxing, reading content: ResponseContent
    ) throws -> BoxedRequest {
        var call = RPCCall("GET")
        call.responseContent = content
        return try adapter.box(call)
    }

    @Test(arguments: [ResponseContent.json, .any])
    func callsAndRequestsChooseTheirContent(_ content: ResponseContent) throws {
        var request = RESTRequest(.get, "/x")
        request.responseContent = content
        let accept = content == .json ? "application/json" : "*/*"
        for boxed in [
            try Self.boxed(by: RESTAdapter(), reading: content), try RESTAdapter().box(request),
            try Self.boxed(by: EnvelopeAdapter(), reading: content),
        ] {
            #expect(boxed.expected.content == content)
            #expect(boxed.fields[.accept] == accept)
        }
        request.fields[.accept] = "image/png"
        #expect(try RESTAdapter().box(request).fields[values: .accept] == ["image/png"])
    }

    @Test func anyContentHasNoResultIfItIsNoJSON() throws {
        let request = try Self.boxed(by: RESTAdapter(), reading: .any)
        for body in ["\u{89}PNG", "{", "[1,]", "Grüße", "{\"a\":1,\"a\":2}"] {
            let response = RawResponse(status: 200, body: Array(body.utf8))
            #expect(try RESTAdapter().unbox(response, to: request).result == nil)
        }
        let json = RawResponse(status: 200, body: Array("[1]".utf8))
        #expect(try RESTAdapter().unbox(json, to: request).result?.value == [1])
        let empty = RawResponse(status: 204, body: [])
        #expect(try RESTAdapter().unbox(empty, to: request).result?.value == .null)
    }

    @Test func jsonAloneRefusesOtherContent() throws {
        let request = try Self.boxed(by: RESTAdapter(), reading: .json)
        let error = #expect(throws: PayloadError.self) {
            try RESTAdapter().unbox(Self.picture, to: request)
        }
        #expect(error?.code == .malformedResponse)
    }

    @Test(arguments: [301, 404, 500])
    func anyContentIsNoExcuseForAStatus(_ status: Int) throws {
        let request = try Self.boxed(by: RESTAdapter(), reading: .any)
        var response = Self.picture
        response.status = status
        let refused = response
        let error = #expect(throws: PayloadError.self) {
            try RESTAdapter().unbox(refused, to: request)
        }
        #expect(error?.code == .httpStatus)
        var small = RESTAdapter()
        small.maximumResponseSize = 3
        let limited = small
        let large = #expect(throws: PayloadError.self) {
            try limited.unbox(Self.picture, to: request)
        }
        #expect(large?.code == .responseTooLarge)
    }

    /// A picture has no envelope; JSON without one is malformed anyway.
    @Test func anEnvelopeIsOpenedForEveryContent() throws {
        let adapter = EnvelopeAdapter()
        let request = try Self.boxed(by: adapter, reading: .any)
        #expect(try adapter.unbox(Self.picture, to: request).result == nil)
        for (body, code) in [
            (#"{"code":7,"message":"no"}"#, PayloadError.Code.rpcError),
            ("[1]", .malformedResponse),
        ] {
            let response = RawResponse(status: 200, body: Array(body.utf8))
            let error = #expect(throws: PayloadError.self) {
                try adapter.unbox(response, to: request)
            }
            #expect(error?.code == code)
        }
    }

    @Test func textIsValidUTF8() {
        #expect(RawResponse(status: 200, body: Array("Grüße".utf8)).text == "Grüße")
        for body in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]] {
            #expect(RawResponse(status: 200, body: body).text == nil)
        }
    }
}
