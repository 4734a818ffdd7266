import SignetPinning
import SignetTransport
import Synchronization

/// How the last response of a call was received.
final class CacheReceipt: Sendable {
    struct Value: Sendable {
        let publicKeys: [String]
        let isMadeUp: Bool
        /// The origin that responded.
        let origin: WebOrigin
    }

    private let state = Mutex<Value?>(nil)

    /// Nil if no server responded.
    var value: Value? { state.withLock { $0 } }

    /// Takes the receipt of the request in which the call left with others.
    func copy(_ other: CacheReceipt) {
        let value = other.value
        state.withLock { $0 = value }
    }

    func note(_ response: EngineResponse, from origin: WebOrigin) {
        let value = Value(
            publicKeys: response.peerChain.map(\.pin.text), isMadeUp: response.isMadeUp,
            origin: origin)
        state.withLock { $0 = value }
    }
}
