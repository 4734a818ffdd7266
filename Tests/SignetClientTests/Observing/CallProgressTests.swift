import HTTPTypes
import SignetClient
import SignetTransport
import TestSupport
import Testing

/// The progress of uploads and downloads.
@Suite(.timeLimit(.minutes(2))) struct CallProgressTests {
    private func exchange(
        _ system: NetworkSystem, _ body: [UInt8], _ progress: CallProgress
    ) async throws {
        var options = RequestOptions()
        options.progress = progress
        _ = try await system.exchange(
            "a", method: .put, target: "/x", fields: [:], body: body, options: options)
    }

    @Test func countsSentAndReceivedBytes() async throws {
        let engine = FeedingEngine(fields: [.contentLength: "5"])
        let system = try await Pipeline.system(engine)
        let progress = CallProgress(interval: .zero)
        #expect(progress.state == CallProgress.State())
        var options = RequestOptions()
        options.progress = progress
        let body = [UInt8](repeating: 1, count: 200_000)
        let response = try await system.stream(
            "a", method: .put, target: "/x", body: HTTPRequestBody(body), options: options)
        #expect(progress.state.sent == 200_000 && progress.state.expectedToSend == 200_000)
        #expect(progress.state.received == 0 && progress.state.expectedToReceive == 5)
        #expect(engine.bytes == [body])
        var chunks = response.body.makeAsyncIterator()
        for (text, count) in [("abc", 3), ("de", 5)] {
            engine.feed(text)
            _ = try await chunks.next()
            #expect(progress.state.received == Int64(count) && !progress.state.hasEnded)
        }
        engine.end()
        _ = try await chunks.next()
        #expect(progress.state.hasEnded)
        await system.shutdown()
    }

    @Test func tellsTheEndToEveryReader() async throws {
        let system = try await Pipeline.system(RecordingEngine())
        let progress = CallProgress(interval: .zero)
        let updates = progress.updates
        try await exchange(system, [1, 2, 3], progress)
        var states: [CallProgress.State] = []
        for await state in updates { states.append(state) }
        // A reader that comes late gets the latest state alone.
        let last = try #require(states.last)
        #expect(last.hasEnded && last.sent == 3 && last.received > 0)
        var late: [CallProgress.State] = []
        for await state in progress.updates { late.append(state) }
        #expect(late == [last])
        await system.shutdown()
    }

    @Test func isThrottled() async throws {
        let engine = FeedingEngine()
        let system = try await Pipeline.system(engine)
        let progress = CallProgress(interval: .seconds(3600))
        var updates = progress.updates.makeAsyncIterator()
        var options = RequestOptions()
        options.progress = progress
        let response = try await system.stream("a", method: .get, target: "/x", options: options)
        // The first change is reported at once, and further ones within the hour are not.
        #expect(await updates.next()?.received == 0)
        for _ in 0..<50 { engine.feed("x") }
        engine.end()
        _ = try await response.body.collect(limit: 50)
        let next = await updates.next()
        #expect(next?.received == 50 && next?.hasEnded == true)
        #expect(await updates.next() == nil)
        await system.shutdown()
    }

    @Test func startsAgainWithEachAttempt() async throws {
        let engine = RecordingEngine(failingFirst: 2)
        let system = try await Pipeline.system(engine) { $0.clock.sleep = { _ in } }
        let progress = CallProgress()
        try await exchange(system, [1, 2, 3], progress)
        #expect(engine.count == 3 && progress.state.sent == 3)
        // Small bodies go to the engine as they are.
        #expect(engine.requests.last?.bytes == [1, 2, 3])
        await system.shutdown()
    }

    @Test(arguments: ["unknown service", "shut down", "wrong options"])
    func endsWithACallThatDoesNotBegin(_ reason: String) async throws {
        let system = try await Pipeline.system(RecordingEngine())
        let progress = CallProgress()
        var options = RequestOptions()
        options.progress = progress
        if reason == "wrong options" { options.attempts = 0 }
        if reason == "shut down" { await system.shutdown() }
        let code = await Pipeline.code { [options] () async throws(ClientError) in
            try await system.exchange(
                reason == "unknown service" ? "b" : "a", method: .get, target: "/", fields: [:],
                body: [UInt8](), options: options)
        }
        #expect(code != nil)
        var states: [CallProgress.State] = []
        for await state in progress.updates { states.append(state) }
        #expect(states.map(\.hasEnded) == [true])
        await system.shutdown()
    }

    @Test func aResponseToHEADHasNoBodyToExpect() async throws {
        let engine = RecordingEngine(responses: [.init(body: "", fields: [.contentLength: "9"])])
        let system = try await Pipeline.system(engine)
        let progress = CallProgress()
        var options = RequestOptions()
        options.progress = progress
        _ = try await system.exchange(
            "a", method: .head, target: "/x", fields: [:], body: [UInt8](), options: options)
        #expect(progress.state.expectedToReceive == nil && progress.state.received == 0)
        await system.shutdown()
    }

    @Test func aDownloadIsObserved() async throws {
        let server = try await DownloadServer()
        let system = try await NetworkSystem.start(
            services: ["a": ServiceConfiguration(baseURL: server.url, payloadProtocol: .rest)],
            policy: .allowingAll())
        let progress = CallProgress()
        var options = RequestOptions()
        options.progress = progress
        let folder = try TemporaryDirectory()
        _ = try await system.download(
            "a", target: "/file", to: folder.path("file"), options: options)
        #expect(progress.state.received == Int64(DownloadServer.size))
        #expect(progress.state.expectedToReceive == Int64(DownloadServer.size))
        #expect(progress.state.hasEnded)
        await system.shutdown()
    }
}
