import HTTPTypes
import SignetCurl
import SignetTransport
import TestSupport
import Testing

/// Content codings: the output of the compressors of Python and nginx is decoded, and everything
/// else is refused.
@Suite struct DecodingTests {
    private func response(_ coding: String?, status: Int = 200) -> HTTPResponse {
        var fields: HTTPFields = [:]
        if let coding { fields[.contentEncoding] = coding }
        return HTTPResponse(status: .init(code: status), headerFields: fields)
    }

    /// Decodes bytes that arrive in chunks of a size; every piece is at most 64 KiB.
    private func decode(
        _ bytes: [UInt8], _ coding: String?, by count: Int = 1 << 16, status: Int = 200,
        method: HTTPRequest.Method = .get, _ limits: ContentDecoding = .init()
    ) throws(TransportError) -> [UInt8] {
        var decoder = try ContentDecoder(
            response(coding, status: status), answering: method, limits: limits)
        var whole: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: count) {
            decoder.push(Array(bytes[start..<min(start + count, bytes.count)]))
            while let piece = try decoder.next() {
                #expect(!piece.isEmpty && piece.count <= 1 << 16)
                whole += piece
            }
        }
        try decoder.finish()
        return whole
    }

    private func failure(
        _ bytes: [UInt8], _ coding: String?, by count: Int = 1 << 16, status: Int = 200,
        method: HTTPRequest.Method = .get, _ limits: ContentDecoding = .init()
    ) -> TransportError.Code? {
        do throws(TransportError) {
            _ = try decode(bytes, coding, by: count, status: status, method: method, limits)
            return nil
        } catch {
            return error.code
        }
    }

    /// The encodings of a text by Python's zlib: `31` is gzip, `15` zlib, `-15` neither's header.
    private static func packed(_ expression: String) async throws -> [UInt8] {
        let output = try await ChildProcess.run(
            "python3", ["-I", PythonPeer.script("packed"), expression])
        return Array(output.stdout)
    }

    private static let text = [UInt8]((0..<200_000).map { UInt8($0 % 251 ^ $0 / 777 % 256) })
    private static let pythonText = "bytes((i % 251 ^ i // 777 % 256) for i in range(200000))"

    @Test(
        arguments: [1, 7, 1 << 16],
        [("gzip", 31), ("X-GZip", 31), (" deflate\t", 15), ("deflate", -15)])
    func decodesPythonsEncodings(by count: Int, _ coding: (name: String, bits: Int)) async throws {
        let packed = try await Self.packed("pack(\(Self.pythonText),\(coding.bits))")
        #expect(packed.count < 100_000)
        #expect(try decode(packed, coding.name, by: count) == Self.text)
        #expect(try decode(packed, "identity", by: count) == packed)
        #expect(try decode(packed, nil, by: count) == packed)
    }

    @Test func takesSeveralMembersOfAGzipFile() async throws {
        let packed = try await Self.packed("pack(b'one',31)+pack(b'',31)+pack(b'two',31)")
        for count in [1, 5, 1_000] {
            #expect(try decode(packed, "gzip", by: count) == Array("onetwo".utf8))
        }
    }

    @Test(arguments: [
        "br", "zstd", "compress", "gzip, gzip", "gzip,deflate", "deflate, identity, gzip", "gzip2",
        "aes128gcm", "gzip;q=1",
    ])
    func refusesByName(_ coding: String) {
        #expect(failure([1], coding) == .unsupportedEncoding)
    }

    @Test(arguments: ["d\t\tmt", "x\u{202E}y", "x" + String(repeating: "\u{301}", count: 5000)])
    func aRefusedCodingsNameIsShortAndEscaped(_ coding: String) throws {
        let error = #expect(throws: TransportError.self) { try decode([1], coding) }
        let message = try #require(error?.message)
        #expect(message.utf8.count < 300 && message.contains("content coding"))
        #expect(!message.unicodeScalars.contains { ["\t", "\u{202E}"].contains($0) })
    }

    @Test func refusesCutDamagedAndOverlongData() async throws {
        let gzip = try await Self.packed("pack(b'hello' * 100,31)")
        let zlib = try await Self.packed("pack(b'hello' * 100,15)")
        let raw = try await Self.packed("pack(b'hello' * 100,-15)")
        for (bytes, coding) in [(gzip, "gzip"), (zlib, "deflate")] {
            for end in 1..<bytes.count {
                #expect(
                    failure(Array(bytes[..<end]), coding) == .malformedResponse,
                    "\(coding) cut at \(end)")
            }
            for more in [[0x1F], [0x1F, 0x8B], [1, 2, 3], [0, 1], [0, 0x1F, 0x8B]] as [[UInt8]] {
                #expect(failure(bytes + more, coding) == .malformedResponse)
                #expect(failure(bytes + more, coding, by: 1) == .malformedResponse)
            }
            let isPadding = coding == "gzip"
            #expect(failure(bytes + [0, 0], coding) == (isPadding ? nil : .malformedResponse))
            #expect(
                failure(bytes + [0, 0], coding, by: 1) == (isPadding ? nil : .malformedResponse))
            // Members are gzip's alone (RFC 1952, section 2.2).
            #expect(failure(bytes + bytes, coding) == (coding == "gzip" ? nil : .malformedResponse))
            var wrongSum = bytes
            wrongSum[bytes.count - (coding == "gzip" ? 5 : 1)] ^= 1
            #expect(failure(wrongSum, coding) == .malformedResponse)
        }
        #expect(failure(Array(raw.dropLast()), "deflate") == .malformedResponse)
        #expect(failure(zlib, "gzip") == .malformedResponse)
        #expect(failure(gzip, "deflate") == .malformedResponse)
        #expect(failure(Array("plain text".utf8), "gzip") == .malformedResponse)
        #expect(failure([], "gzip") == nil)
        #expect(failure([1], "deflate") == .malformedResponse)
        // A part of an encoded body can't be decoded alone, even if it looks complete.
        #expect(failure(gzip, "gzip", status: 206) == .unsupportedEncoding)
        #expect(failure(gzip, nil, status: 206) == nil)
    }

    @Test func refusesBombs() async throws {
        let bomb = try await Self.packed("pack(bytes(32 << 20),31)")
        #expect(bomb.count < 64_000)
        var limits = ContentDecoding()
        #expect(failure(bomb, "gzip", limits) == .responseTooLarge)  // a thousand to one
        limits.maximumRatio = 2_000
        #expect(failure(bomb, "gzip", limits) == nil)
        limits.maximumSize = (32 << 20) - 1
        #expect(failure(bomb, "gzip", limits) == .responseTooLarge)
        limits.maximumSize = 10
        #expect(failure(bomb, "gzip", limits) == .responseTooLarge)
        #expect(failure(Array("eleven byte".utf8), nil, limits) == .responseTooLarge)
        // Below a mebibyte the ratio says nothing.
        let small = try await Self.packed("pack(bytes(1 << 20),31)")
        #expect(failure(small, "gzip") == nil)
        let members = try await Self.packed("pack(bytes(1 << 20),31) * 40")
        #expect(failure(members, "gzip") == .responseTooLarge)
    }

    @Test(arguments: [("HEAD", 200), ("GET", 204), ("GET", 304), ("HEAD", 404)])
    func knowsResponsesWithoutABody(_ method: String, _ status: Int) throws {
        let method = try #require(HTTPRequest.Method(method))
        #expect(failure([], "gzip", status: status, method: method) == nil)
        #expect(failure([1], "gzip", status: status, method: method) == .malformedResponse)
        let decoder = try ContentDecoder(response("gzip", status: status), answering: method)
        let decodes = decoder.decodes
        #expect(!decodes)
    }

    @Test func decodesNginxsResponses() async throws {
        let folder = try TemporaryDirectory()
        try folder.write(Self.text, to: "text")
        let host = try await OrdersHost.start(
            directives:
                "location /text { root \(folder.path); gzip on; gzip_types *; gzip_min_length 1; }")
        let engine = try engine()
        for method in [HTTPRequest.Method.get, .head] {
            var request = EngineRequest(get(host.port, "/text"))
            request.request.method = method
            request.timeout = .seconds(300)
            request.request.headerFields[.acceptEncoding] = ContentDecoding.acceptEncoding
            let (response, body) = try await engine.fetch(request)
            #expect(response.response.headerFields[.contentEncoding] == "gzip")
            var decoder = try ContentDecoder(response.response, answering: method)
            decoder.push(body)
            var whole: [UInt8] = []
            while let piece = try decoder.next() { whole += piece }
            try decoder.finish()
            #expect(whole == (method == .get ? Self.text : []))
            #expect(method == .head || body.count < Self.text.count)
        }
        await engine.shutdown()
    }
}
