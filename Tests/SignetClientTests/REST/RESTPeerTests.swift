import Foundation
import SignetClient
import SignetCurl
import TestSupport
import Testing

/// REST calls to httpbin, which describes the request that it received.
@Suite struct RESTPeerTests {
    private static let peer = Task {
        try await PythonPeer.serve("httpbin")
    }

    private let base: String

    init() async throws { base = "http://127.0.0.1:\(try await Self.peer.value.port)" }

    private func withSystem<Result>(
        _ adapter: RESTAdapter = RESTAdapter(), _ work: (NetworkSystem) async throws -> Result
    ) async throws -> Result {
        var service = ServiceConfiguration(baseURL: base, payloadProtocol: .rest)
        service.adapter = adapter
        let system = try await NetworkSystem.start(
            services: ["bin": service], policy: .allowingAll())
        do {
            let result = try await work(system)
            await system.shutdown()
            return result
        } catch {
            await system.shutdown()
            throw error
        }
    }

    private func value(_ request: RESTRequest, _ adapter: RESTAdapter = RESTAdapter()) async throws
        -> JSONValue
    {
        let response = try await withSystem(adapter) { try await $0.call(request, on: "bin") }
        return try #require(response.result).value
    }

    private static let nasty = "a&b=c+d e%20f/?#é😀\"\\\u{7f}\r\n"

    @Test(.features("002-04", "004-04")) func queriesArriveAsTheyWereGiven() async throws {
        let query: JSONObject = [
            "a b": .string(Self.nasty), "list": [1, "two", true], "empty": "",
        ]
        let value = try await value(RESTRequest(.get, "/get", query: query))
        #expect(value["args"]?["a b"] == .string(Self.nasty))
        #expect(value["args"]?["list"] == ["1", "two", "true"])
        #expect(value["args"]?["empty"] == "")
    }

    @Test func stylesArrive() async throws {
        var adapter = RESTAdapter()
        adapter.queryStyles = [
            "p": .pipeDelimited, "s": .spaceDelimited, "f": .form, "d": .deepObject,
        ]
        let list: JSONValue = ["x", "y"]
        let query: JSONObject = ["p": list, "s": list, "f": list, "d": ["k&": "v"]]
        let args = try await value(RESTRequest(.get, "/get", query: query), adapter)["args"]
        #expect(args == ["d[k&]": "v", "f": "x,y", "p": "x|y", "s": "x y"])
    }

    @Test(arguments: ["a b", "é", "..a", "a?b#c", "a;b=c", "+"])
    func aValueInAPathIsOneSegment(_ text: String) async throws {
        // httpbin decodes the path and returns the result.
        let value = try await value(RESTRequest(.get, "/anything/\(text)", query: ["q": "1"]))
        let url = try #require(value["url"]?.string)
        let path = try #require(
            URL(string: url)?.path(percentEncoded: true).removingPercentEncoding)
        #expect(path == "/anything/\(text)" || url.contains("/anything/\(text)?q=1"))
        #expect(value["args"] == ["q": "1"])
    }

    @Test func formsArrive() async throws {
        let form: JSONObject = ["a b": .string(Self.nasty), "list": ["1", "2"]]
        let value = try await value(RESTRequest(.post, "/post", body: .form(form)))
        #expect(value["form"] == .object(form))
    }

    @Test func jsonArrivesAsItWasWritten() async throws {
        let json: JSONValue = [
            "n": 9_007_199_254_740_993, "s": .string(Self.nasty), "x": [nil, 1.5],
        ]
        let value = try await value(RESTRequest(.patch, "/patch", body: .json(json)))
        #expect(value["json"] == json)
        #expect(value["data"]?.string == json.text)
    }

    @Test func rawBytesArrive() async throws {
        let body = try RESTBody.bytes([0, 1, 254, 255], contentType: "application/x-own")
        let value = try await value(RESTRequest(.put, "/put", body: body))
        #expect(value["data"] == "data:application/octet-stream;base64,AAH+/w==")
        #expect(value["headers"]?["Content-Type"] == "application/x-own")
    }

    @Test func multipartArrivesAndInjectsNothing() async throws {
        var form = MultipartForm()
        form.append(Self.nasty, named: "field")
        form.append("1", named: "x\"; filename=\"evil")
        form.append("2", named: "y\r\nX-Evil: 1\r\n\r\nevil")
        form.append(
            file: Array("<\r\n--B\r\n>".utf8), named: "file", fileName: "a\"\r\n.txt",
            contentType: "text/plain")
        let value = try await value(RESTRequest(.post, "/post", body: .multipart(form)))
        #expect(value["form"]?["field"] == .string(Self.nasty))
        #expect(value["form"]?.object?.count == 3)
        #expect(value["files"]?.object?.memberNames == ["file"])
        #expect(value["files"]?["file"] == "<\r\n--B\r\n>")
    }

    @Test(.features("002-05")) func filesAreStreamed() async throws {
        let folder = try TemporaryDirectory()
        let content = String(repeating: "0123456789abcdef", count: 40_000)
        let file = try folder.write(content, to: "big")
        let upload = try MultipartUpload(
            fields: MultipartForm([.init(name: "a", content: Array("b".utf8))]),
            files: [
                .init(name: "one", fileName: "one.bin", content: .file(file)),
                .init(name: "two", fileName: "two.bin", content: HTTPRequestBody(Array("2".utf8))),
            ])
        let response = try await withSystem {
            try await $0.upload(
                upload, with: RESTRequest(.post, "/post", query: ["q": 1]), to: "bin")
        }
        let value = try #require(response.result).value
        #expect(value["form"] == ["a": "b"] && value["args"] == ["q": "1"])
        #expect(value["files"]?["one"]?.string == content && value["files"]?["two"] == "2")
    }

    @Test func aStreamOfBytesAndAFieldArrive() async throws {
        let chunks = AsyncStream<[UInt8]> { continuation in
            for byte in UInt8(0)..<100 { continuation.yield([byte, 255]) }
            continuation.finish()
        }
        let name = try #require(HTTPField.Name("X-Own"))
        let request = RESTRequest(.put, "/put", query: ["q": 1], fields: [name: "mine"])
        let response = try await withSystem {
            try await $0.upload(
                .stream(length: 200, chunks), contentType: "application/x-own", with: request,
                to: "bin")
        }
        let value = try #require(response.result).value
        #expect(
            value["data"]?.string?.hasPrefix("data:application/octet-stream;base64,AP8B/wL/")
                == true)
        #expect(value["headers"]?["Content-Type"] == "application/x-own")
        #expect(value["headers"]?["X-Own"] == "mine" && value["args"] == ["q": "1"])
        let error = await #expect(throws: ClientError.self) {
            try await withSystem {
                try await $0.upload([1], contentType: "a/b\r\nX-Evil: 1", with: request, to: "bin")
            }
        }
        #expect(error?.code.name == "invalid-params")
    }

    @Test(arguments: [200, 204])
    func anEmptyBodyIsNull(_ status: Int) async throws {
        let request = RESTRequest(.get, "/status/\(status)")
        let response = try await withSystem { try await $0.call(request, on: "bin") }
        #expect(response.status == status)
        #expect(response.result?.value == .null)
    }

    @Test(.features("002-07"), arguments: [304, 400, 404, 418, 429, 500, 503])
    func anErrorStatusIsReported(_ status: Int) async throws {
        let request = RESTRequest(.get, "/status/\(status)")
        let error = await #expect(throws: ClientError.self) {
            try await withSystem { try await $0.call(request, on: "bin") }
        }
        #expect(error?.kind == .refused)
        #expect(error?.status == status)
        // The response with status 418 has a picture as its body.
        #expect((error?.responseBody.isEmpty == false) == (status == 418))
    }

    @Test(.features("001-03")) func aTypedResourceArrives() async throws {
        struct Anything: RESTEndpoint {
            var service: ServiceName { "bin" }
            var httpMethod: HTTPRequest.Method { .delete }
            var path: PathTemplate { "/anything/{id}" }
            var id: String
            struct Success: Decodable, Sendable {
                var method: String
                var url: String
            }
        }
        let response = try await withSystem { try await $0.send(Anything(id: "../x")) }
        #expect(response.method == "DELETE")
        #expect(!response.url.hasSuffix("127.0.0.1/x"))
        #expect(!response.url.contains("?"))
    }
}
