#if Storage
import SignetCache
import Synchronization

/// Takes the content of a response on its way to the caller, and stores it at its end.
final class DiskCacheWriter: CacheWriter {
    private struct State {
        /// Nil after it was declined or used.
        var buffer: ContentBuffer?
        /// The bytes that were received.
        var received: Int64 = 0
        /// The bytes for which room was made.
        var room: Int64
    }

    private let change: CacheChange
    private let limit: Int64
    private let store: DiskCacheStore
    private let state: Mutex<State>
    /// Room is made for so many bytes at once.
    private static let step: Int64 = 1 << 20

    init(
        _ change: CacheChange, into buffer: ContentBuffer, limit: Int64,
        for store: DiskCacheStore
    ) {
        self.change = change
        self.limit = limit
        self.store = store
        state = Mutex(State(buffer: buffer, room: Int64(ContentFile.blockSize)))
    }

    func write(_ chunk: [UInt8]) async {
        guard await append(chunk) else { return }
        state.withLock { $0.received += Int64(chunk.count) }
    }

    /// Adds bytes. Those that are too many end the storing.
    private func append(_ chunk: [UInt8]) async -> Bool {
        let needed = state.withLock { state -> Int64? in
            guard let length = state.buffer?.length else { return nil }
            let total = length + Int64(chunk.count)
            guard total <= limit else {
                state.buffer = nil
                return nil
            }
            guard total > state.room else { return 0 }
            state.room = min(limit, total + Self.step)
            return state.room
        }
        guard let needed else { return false }
        // The file takes the whole room, because it isn't counted before it is stored.
        if needed > 0 { await store.makeRoom(for: needed) }
        return state.withLock { state in
            guard state.buffer?.append(chunk) == true else {
                state.buffer = nil
                return false
            }
            return true
        }
    }

    /// Adds the content of this very response, if it is still stored.
    func append(contentOf response: StoredResponse) async -> Bool {
        let entries = await store.responses(for: response.id.key)
        guard let entry = entries.first(where: { $0.response == response }) else { return false }
        switch entry.content {
        case .bytes(let bytes): return await append(bytes)
        case .pieces(let reader):
            var position: Int64 = 0
            while position < response.length {
                guard let piece = await reader.piece(in: position..<response.length),
                    await append(piece)
                else { return false }
                position += Int64(piece.count)
            }
            return true
        }
    }

    func finish(isWhole: Bool) async -> Bool {
        switch change {
        case .store(let response):
            // A content that was cut off replaces nothing that can still be served.
            if !isWhole, await store.hasWhole(response.id) { return false }
            let received = state.withLock { $0.received }
            guard let finished = response.finished(length: received, isWhole: isWhole) else {
                await store.change(.remove(response.id))
                return false
            }
            if await finish(finished, replacing: nil) { return true }
            // The origin has replaced what is stored.
            await store.change(.remove(response.id))
            return false
        case .join(let old, let response, let receivedIsFirst):
            guard isWhole else { return false }
            if receivedIsFirst { guard await append(contentOf: old) else { return false } }
            return await finish(response, replacing: old)
        case .update, .copy, .remove, .invalidate, .clear: return false
        }
    }

    /// Stores a response with the bytes so far, which must be as many as it says.
    func finish(_ response: StoredResponse, replacing old: StoredResponse?) async -> Bool {
        let ended = state.withLock { state -> (id: [UInt8], place: ContentBuffer.Place)? in
            guard var buffer = state.buffer.take(), buffer.length == response.length,
                let place = buffer.finish()
            else { return nil }
            return (buffer.contentID, place)
        }
        guard let ended else { return false }
        return await store.insert(
            response, contentID: ended.id, at: ended.place, replacing: old)
    }
}
#endif
