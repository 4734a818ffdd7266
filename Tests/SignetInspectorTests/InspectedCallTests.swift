#if Inspector
import HTTPTypes
import SignetClient
import SignetInspector
import SignetJSON
import SignetRPC
import SignetRecording
import SignetTesting
import SignetTransport
import Testing

/// The calls of a running system as the page gets them.
@Suite struct InspectedCallTests {
    private func member(_ value: JSONValue, _ names: String...) -> JSONValue? {
        names.reduce(value) { value, name in
            Int(name).flatMap { index in value?.array.flatMap { index < $0.count ? $0[index] : nil }
            }
                ?? value?[name]
        }
    }

    @Test func aCallIsShownWithItsStages() async throws {
        let fixture = try await InspectorFixture()
        let parameters: JSONObject = ["item": "tea", "password": "ZZZZZZ"]
        _ = try await fixture.system.call(
            RPCCall("orders.create", parameters: .object(parameters)), on: "orders")
        let row = try #require(
            try await fixture.browser.calls { $0.first?["state"] == "success" }.first)
        #expect(row["method"] == "orders.create" && row["isRPC"] == true)
        #expect(row["host"] == "api.example.com" && row["path"] == "/rpc")
        #expect(row["status"] == 200 && row["service"] == "orders")
        #expect(row["text"]?.string?.contains("tea") == true)
        let detail = try await fixture.browser.get("/api/call?id=1")
        #expect(member(detail, "mode") == "development")
        let stages = detail["contents"]?.array?.compactMap { $0["stage"]?.string }
        #expect(stages == ["building", "signing", "request", "unboxing"])
        #expect(member(detail, "exchange", "request", "method") == "POST")
        #expect(member(detail, "exchange", "request", "url") == "https://api.example.com/rpc")
        let answer = member(detail, "exchange", "response", "body")?.string
        #expect(answer?.contains("tea") == true)
        #expect(!row.text.contains("ZZZZZZ"))
        #expect(!detail.text.contains("ZZZZZZ"))
        await fixture.stop()
    }

    /// An engine of two addresses, the first of which has no server.
    private struct AddressEngine: HTTPEngine {
        let capabilities = EngineCapabilities(
            name: "addresses", pinsPublicKeys: true, speaksHTTP2: false,
            connectsToAddresses: true)

        func probe(_ probe: EngineProbe) async throws(TransportError) -> ProbeResult {
            guard probe.connectTo.first?.address?.description != "192.0.2.1" else {
                throw TransportError(.connect, "no server")
            }
            return ProbeResult(chain: [], isTrusted: true)
        }

        func send(_ request: EngineRequest) async throws(TransportError) -> EngineResponse {
            EngineResponse(
                response: HTTPResponse(status: .ok), body: HTTPResponseBody(bytes: Array("1".utf8)),
                httpVersion: .init(major: 1, minor: 1))
        }

        func shutdown() async {}
    }

    @Test func theAddressHasItsReason() async throws {
        var options = NetworkSystem.Options()
        options.runMode = .development
        options.engine = AddressEngine()
        options.dangerous.allowUnpinnedServices()
        options.addresses.startLimit = .seconds(60)
        var service = ServiceConfiguration(
            baseURL: "https://shop.example.com", payloadProtocol: .rest)
        service.addresses = try ["192.0.2.1", "192.0.2.2"].map { try ServiceAddress(parsing: $0) }
        let system = try await NetworkSystem.start(
            services: ["shop": service], options: options)
        let page = try await system.inspect()
        let browser = try await PageBrowser(opening: page.url)
        let recording = try await system.record {
            _ = try await system.call(RESTRequest(.get, "/x"), on: "shop")
        }
        _ = try await browser.calls { $0.first?["state"] == "success" }
        let detail = try await browser.get("/api/call?id=1")
        let expected: JSONValue = ["address": "192.0.2.2", "reason": "fastest", "failed": []]
        #expect(member(detail, "attempts", "0", "hops", "0", "address") == expected)
        await page.stop()
        await browser.close()
        // The page of its recording says the same.
        let recorded = try await Inspector.show(Recording(har: recording.har()))
        let reader = try await PageBrowser(opening: recorded.url)
        let same = try await reader.get("/api/call?id=1")
        #expect(member(same, "attempts", "0", "hops", "0", "address") == expected)
        await recorded.stop()
        await system.shutdown()
        await reader.close()
    }

    @Test func theProgramsViewsAreOffered() async throws {
        var options = InspectorOptions()
        options.views = [.init("Tea", filter: "body:tea <b>")]
        let fixture = try await InspectorFixture(options: options)
        _ = try await fixture.system.call(RPCCall("orders.list"), on: "orders")
        let about = try await fixture.browser.get("/api/calls?after=0")["about"]
        #expect(about?["views"] == [["Tea", "body:tea <b>"]])
        await fixture.stop()
    }

    @Test func aFailureHasItsCodeAndItsReason() async throws {
        let fixture = try await InspectorFixture()
        fixture.stub.respond(
            to: .procedure("orders.list"), with: .rpcError(code: 4001, message: "sold out"))
        await #expect(throws: ClientError.self) {
            _ = try await fixture.system.call(RPCCall("orders.list"), on: "orders")
        }
        let row = try #require(
            try await fixture.browser.calls { $0.first?["state"] == "failed" }.first)
        #expect(row["code"] == "rpc-error" && row["serverCode"] == "4001")
        #expect(row["message"]?.string?.contains("sold out") == true)
        #expect(row["kind"] == "refused")
        await fixture.stop()
    }

    @Test func aCallThatRunsIsShownBeforeItEnds() async throws {
        let fixture = try await InspectorFixture()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        fixture.stub.respond(to: .procedure("orders.wait")) { _ in
            for await _ in gate { break }
            return .result(1)
        }
        async let response = fixture.system.call(RPCCall("orders.wait"), on: "orders")
        let running = try #require(try await fixture.browser.calls().first)
        #expect(running["state"] == "running" && running["duration"]?.isNull == true)
        let detail = try await fixture.browser.get("/api/call?id=1")
        #expect(detail["stages"]?.array?.isEmpty == true)
        open.yield()
        _ = try await response
        let ended = try await fixture.browser.calls { $0.first?["state"] == "success" }
        #expect(ended.count == 1)
        await fixture.stop()
    }

    @Test func theOldestCallsAreDropped() async throws {
        var options = InspectorOptions()
        options.maximumCalls = 3
        let fixture = try await InspectorFixture(options: options)
        for _ in 0..<10 { _ = try await fixture.system.call(RPCCall("a"), on: "orders") }
        let calls = try await fixture.browser.calls { $0.last?["id"] == "10" }
        #expect(calls.compactMap { $0["id"]?.string } == ["8", "9", "10"])
        let answer = try await fixture.browser.get("/api/calls?after=0")
        #expect(answer["dropped"] == 7 && answer["oldest"] == 8)
        #expect(answer["calls"]?.array?.compactMap { $0["number"]?.number?.int64 } == [8, 9, 10])
        #expect(try await fixture.browser.get("/api/call?id=1")["error"]?["code"] == "not-found")
        await fixture.stop()
    }

    @Test(arguments: [RunMode.production, .staging]) func inProductionNothingIsShown(
        _ mode: RunMode
    ) async throws {
        let stub = StubEngine()
        stub.respond(to: .any, with: .result(1))
        var options = NetworkSystem.Options()
        options.runMode = mode
        let system = try await NetworkSystem.start(
            services: [
                "orders": .init(
                    baseURL: "https://api.example.com/rpc", payloadProtocol: .jsonRPC2)
            ], stub: stub, options: options)
        do throws(InspectorError) {
            let page = try await system.inspect()
            #expect(mode != .production)
            await page.stop()
        } catch {
            #expect(mode == .production)
            #expect(error.code == .notSwitchable)
        }
        await system.shutdown()
    }

    /// Asked for by name, the page looks, and does nothing else.
    @Test func inProductionThePageOnlyLooks() async throws {
        var options = InspectorOptions()
        options.dangerous.showProduction()
        let fixture = try await InspectorFixture(.production, options: options)
        _ = try await fixture.system.call(RPCCall("orders.list"), on: "orders")
        let row = try #require(
            try await fixture.browser.calls { $0.first?["state"] == "success" }.first)
        #expect(row["text"] == "")
        let about = try await fixture.browser.get("/api/calls?after=0")["about"]
        #expect(about?["isSwitchable"] == false)
        for action in [
            ["action": "switches", "switches": ["isOffline": true]],
            ["action": "send", "service": "orders", "method": "POST", "target": "/rpc"],
        ] as [JSONValue] {
            let (status, answer) = try await fixture.browser.act(action)
            #expect(status == 400 && answer["error"]?["code"] == "not-switchable")
        }
        #expect(fixture.stub.requests.count == 1)
        await fixture.stop()
    }
}
#endif
