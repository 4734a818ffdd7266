import Synchronization

/// Whether interceptors sent a call on, and the last response that they got.
final class ReceivedResponse<Response: Sendable>: Sendable {
    private let current = Mutex<(isSent: Bool, last: Response?)>((false, nil))

    var state: (isSent: Bool, last: Response?) { current.withLock { $0 } }

    func begin() { current.withLock { $0.isSent = true } }

    func set(_ response: Response) { current.withLock { $0.last = response } }
}
