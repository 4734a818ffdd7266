#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import SignetTransport
import Synchronization

/// Turns async-http-client's response into an engine's, and moves its body with back-pressure,
/// within the request's limits.
struct IncomingResponse: Sendable {
    let request: EngineRequest
    let start: ContinuousClock.Instant
    let errors: ErrorMap
    let bufferSize: Int

    /// Returns the engine's response and starts to move its body.
    ///
    /// - Throws: `TransportError` with code `malformed-response` or `response-too-large`.
    func engineResponse(
        _ response: HTTPClientResponse
    ) throws(TransportError) -> EngineResponse {
        let code = Int(response.status.code)
        guard (100...999).contains(code) else { throw errors.malformed("the status \(code)") }
        var fields = HTTPFields()
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value),
                fields.count < 65_534
            else { throw errors.malformed("an invalid field") }
            fields.append(HTTPField(name: name, value: value))
        }
        if request.request.method != .head, let text = fields[.contentLength],
            let length = Int(text), length > request.maximumBodySize
        {
            throw errors.tooLarge(request.maximumBodySize)
        }
        var timings = Timings()
        timings.firstByte = .now - start
        let record = TimingsRecord()
        record.record(timings)
        return EngineResponse(
            response: HTTPResponse(
                status: .init(code: code, reasonPhrase: response.status.reasonPhrase),
                headerFields: fields),
            body: body(response.body, timings: timings, record: record),
            httpVersion: EngineResponse.HTTPVersion(
                major: response.version.major, minor: response.version.minor),
            timings: timings, record: record)
    }

    /// Starts two tasks: one moves the body, and one ends it at the deadline.
    private func body(
        _ body: HTTPClientResponse.Body, timings: Timings, record: TimingsRecord
    ) -> HTTPResponseBody {
        let (room, hasRoom) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let tasks = Tasks()
        let buffer = BodyBuffer(
            capacity: bufferSize, drained: { hasRoom.yield() }, abandoned: { tasks.cancel() })
        tasks.add(
            Task {
                let error = await move(body, into: buffer, waitingFor: room)
                var timings = timings
                timings.total = .now - start
                record.record(timings)
                buffer.finish(error)
                tasks.cancel()
            })
        let left = request.timeout - (ContinuousClock.now - start)
        tasks.add(
            Task {
                do { try await Task.sleep(for: left) } catch { return }
                buffer.finish(errors.timeout("the response's body has not ended"))
                tasks.cancel()
            })
        return HTTPResponseBody(buffer)
    }

    /// Moves the body into the buffer.
    ///
    /// - Returns: Why the body ended early; nil at its end.
    private func move(
        _ body: HTTPClientResponse.Body, into buffer: BodyBuffer, waitingFor room: AsyncStream<Void>
    ) async -> TransportError? {
        var count = 0
        var rooms = room.makeAsyncIterator()
        do {
            for try await chunk in body {
                count += chunk.readableBytes
                guard count <= request.maximumBodySize else {
                    return errors.tooLarge(request.maximumBodySize)
                }
                let bytes = Array(buffer: chunk)
                while !buffer.offer(bytes) {
                    guard await rooms.next() != nil else { throw CancellationError() }
                }
            }
            try Task.checkCancellation()
            return nil
        } catch {
            return errors.transportError(error)
        }
    }
}

/// Tasks that end together.
private final class Tasks: Sendable {
    private let state = Mutex<(tasks: [Task<Void, Never>], isCancelled: Bool)>(([], false))

    func add(_ task: Task<Void, Never>) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.tasks.append(task) }
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func cancel() {
        let tasks = state.withLock { state in
            state.isCancelled = true
            defer { state.tasks = [] }
            return state.tasks
        }
        for task in tasks { task.cancel() }
    }
}
#endif
