import SignetClient
import SignetJSON
import SignetRPC
import SignetTransport
import SignetVault
import TestSupport
import Testing

/// Errors that are made beside a call's own pipeline name their call too.
@Suite struct ErrorIdentityTests {
    enum Case: String, Sendable, CaseIterable {
        case refusedPin, noFetchedValues, wrongFetchedValues, unreadableFetchedValues
        case unreadableRecord, wrongRecord, largeRecord, largeBody, cancelledBody
        case pageAgain, pageTooMany, pageElsewhere, pageUnreadable, multipartName

        var code: String {
            switch self {
            case .refusedPin: "pin-mismatch"
            case .noFetchedValues, .wrongRecord: "type-mismatch"
            case .wrongFetchedValues: "out-of-range"
            case .unreadableFetchedValues, .unreadableRecord, .pageUnreadable: "malformed-response"
            case .largeRecord, .largeBody: "response-too-large"
            case .cancelledBody: "cancelled"
            case .pageAgain: "paging-loop"
            case .pageTooMany: "too-many-pages"
            case .pageElsewhere: "paging-refused"
            case .multipartName: "invalid-params"
            }
        }

        /// Whether the call has ended when the error is thrown, so that there is a record of it.
        var hasRecord: Bool {
            ![.unreadableRecord, .wrongRecord, .largeRecord, .largeBody, .cancelledBody]
                .contains(self)
        }
    }

    @Test(arguments: Case.allCases) func anErrorNamesItsCall(_ row: Case) async throws {
        let error = try #require(await Self.error(of: row))
        #expect(error.code.name == row.code, "\(error)")
        let identity = try #require(error.identity)
        #expect(["a", "settings"].contains(identity.service))
        #expect((error.record != nil) == row.hasRecord)
        #expect(error.record.map { $0.identity == identity } ?? true)
        #expect((error.pinRefusal != nil) == (row == .refusedPin))
    }

    private static func error(of row: Case) async throws -> ClientError? {
        switch row {
        case .refusedPin: try await ofFetch(SystemHostTests.refused())
        case .noFetchedValues: try await ofFetch(.init(status: 200, body: "text"), any: true)
        case .wrongFetchedValues: try await ofFetch(.init(body: #"{"shop.limit":11}"#))
        case .unreadableFetchedValues: try await ofFetch(.init(body: "{"))
        case .unreadableRecord: try await ofRecords("{\"id\":1,}\n")
        case .wrongRecord: try await ofRecords("{\"id\":\"x\"}\n")
        case .largeRecord: try await ofRecords("[\(String(repeating: " ", count: 200))]\n")
        case .largeBody: try await ofBody { _ = try await $0.body.collect(limit: 1) }
        case .cancelledBody:
            try await ofBody {
                $0.cancel()
                _ = try await $0.body.collect(limit: 1)
            }
        case .pageAgain: try await ofPages("</v1/x>; rel=next")
        case .pageTooMany: try await ofPages("</v1/y>; rel=next", limit: 1)
        case .pageElsewhere: try await ofPages("<https://evil.example/>; rel=next")
        case .pageUnreadable: try await ofPages("</a>; rel=\"next")
        case .multipartName:
            try await thrown(by: Pipeline.system(RecordingEngine())) { system in
                var upload = MultipartUpload(files: [])
                upload.fields.append("1", named: "a\0")
                _ = try await system.upload(
                    upload, with: RESTRequest(.post, "/x"), to: "a", options: RequestOptions())
            }
        }
    }

    private static func thrown(
        by system: NetworkSystem, _ work: (NetworkSystem) async throws -> Void
    ) async -> ClientError? {
        do {
            try await work(system)
        } catch {
            await system.shutdown()
            return error as? ClientError
        }
        await system.shutdown()
        return nil
    }

    /// The error of a start whose fetch fails.
    private static func ofFetch(
        _ response: RecordingEngine.Response, any: Bool = false
    ) async throws -> ClientError? {
        var options = NetworkSystem.Options()
        options.engine = RecordingEngine(responses: [response])
        options.pinReports.logs = false
        if any { options.adapters["text"] = TextAdapter() }
        let defaults: JSONObject = [
            "services.settings.baseURL": "https://api.example.com",
            "services.settings.protocol": any ? "text" : "rest",
            "services.settings.pins": ["sha256/AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="],
        ]
        let schema = try Schema(FetchFixture.schema)
        do throws(ClientError) {
            let system = try await NetworkSystem.start(
                schema: schema, defaults: .values(defaults),
                fetching: FetchPlan(service: "settings", method: "GET"), options: options)
            await system.shutdown()
            return nil
        } catch {
            #expect(error.message.hasPrefix("the configuration was not fetched: "))
            return error
        }
    }

    /// A protocol whose responses have no result.
    private struct TextAdapter: PayloadAdapter {
        func box(_ call: RPCCall) throws(PayloadError) -> BoxedRequest {
            BoxedRequest(method: .get)
        }

        func unbox(
            _ response: RawResponse, to request: BoxedRequest
        ) throws(PayloadError) -> UnboxedResponse {
            UnboxedResponse(result: nil, status: response.status)
        }
    }

    private static func ofBody(
        _ text: String = "12", _ work: (StreamedResponse) async throws -> Void
    ) async throws -> ClientError? {
        let engine = RecordingEngine(responses: [.init(body: text)])
        return await thrown(by: try await Pipeline.system(engine)) { system in
            try await work(system.stream("a", method: .get, target: "/x"))
        }
    }

    private static func ofRecords(_ line: String) async throws -> ClientError? {
        try await ofBody(line) { response in
            let records = response.records(
                of: StreamTests.Item.self, in: .lines, maximumRecordSize: 100)
            for try await _ in records {}
        }
    }

    private static func ofPages(_ link: String, limit: Int = 9) async throws -> ClientError? {
        let name = try #require(HTTPField.Name("Link"))
        let engine = RecordingEngine(responses: [.init(body: "[1]", fields: [name: link])])
        return await thrown(by: try await Pipeline.system(engine)) { system in
            var paging = Paging.link()
            paging.maximumPages = limit
            for try await _ in system.pages(of: RESTRequest(.get, "/x"), on: "a", by: paging) {}
        }
    }
}
