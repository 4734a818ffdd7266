import HTTPTypes
import SignetSigning
import TestSupport
import Testing

/// Messages made from HTTPTypes' requests and responses, and back.
@Suite struct HTTPTypesTests {
    private func request() throws -> HTTPRequest {
        var request = HTTPRequest(
            method: .post, scheme: "https", authority: "api.example.com", path: "/rpc?a=b")
        request.headerFields[.contentType] = "application/json"
        request.headerFields.append(
            HTTPField(name: try #require(HTTPField.Name("X-List")), value: "one"))
        request.headerFields.append(
            HTTPField(name: try #require(HTTPField.Name("X-List")), value: "two"))
        return request
    }

    @Test func givesTheSameRequestAsItsText() async throws {
        let request: HTTPRequest = try request()
        let message = try SignableMessage(request: request, body: [0x7B, 0x7D])
        #expect(
            text(message.serialized())
                == "POST /rpc?a=b HTTP/1.1\r\nHost: api.example.com\r\nContent-Type: application/json"
                + "\r\nX-List: one\r\nX-List: two\r\n\r\n{}")
        #expect(try SignableMessage(parsing: message.serialized()) == message)
        #expect(message.httpRequest == request)
    }

    @Test func returnsASignedRequest() throws {
        var message = try SignableMessage(request: request(), body: [0x7B, 0x7D])
        let result = try Sample.signer().sign(&message, now: Sample.now)
        let back = try #require(message.httpRequest)
        #expect(back.headerFields.count == 3 + result.addedFields.count)
        let again = try SignableMessage(request: back, body: message.body)
        #expect(try Sample.verifier().verify(again, now: Sample.now).keyID == "orders-2026")
    }

    @Test func givesTheSameResponseAsItsText() throws {
        var response = HTTPResponse(status: .notFound)
        response.headerFields[.contentType] = "text/plain"
        let message = try SignableMessage(response: response, body: [0x61])
        #expect(
            text(message.serialized())
                == "HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\r\na")
        #expect(message.httpResponse == response)
        #expect(message.httpRequest == nil)
    }

    @Test func readsAnEmptyPathAsASlash() throws {
        let message = try SignableMessage(
            request: HTTPRequest(method: .get, scheme: "https", authority: "h", path: ""))
        #expect(text(try #require(message.request).target) == "/")
    }

    @Test func refusesRequestsThatWouldBeSentChanged() throws {
        var other = try request()
        other.scheme = "ftp"
        #expect(code { _ = try SignableMessage(request: other) } == "malformed-message")

        var host = try request()
        host.headerFields.append(
            HTTPField(name: try #require(HTTPField.Name("Host")), value: "other"))
        #expect(code { _ = try SignableMessage(request: host) } == "malformed-message")

        var latin = try request()
        latin.headerFields.append(
            HTTPField(name: try #require(HTTPField.Name("X-Name")), value: [0xE9] as [UInt8]))
        #expect(code { _ = try SignableMessage(request: latin) } == "malformed-message")
    }
}
