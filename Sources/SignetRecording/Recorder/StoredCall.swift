import SignetCrypto
import SignetSystem
import Synchronization

/// A call in a store: sealed until it is read, and redacted from then on.
final class StoredCall: Sendable {
    enum Content {
        case sealed(CallSealer.Sealed, by: CallSealer, CallRedaction)
        indirect case redacted(RecordedCall)
        /// It couldn't be sealed, or the seal can't be opened.
        case damaged
    }

    /// The size in memory in bytes, about, as it was added.
    let size: Int
    private let content: Mutex<Content>

    /// - Parameter call: Redacted.
    convenience init(_ call: RecordedCall) {
        self.init(.redacted(call), size: call.approximateSize)
    }

    /// - Parameter sealer: The sealer of the store; nil if it has none, so that the call is
    ///   redacted now.
    convenience init(_ call: consuming UnredactedCall, sealedBy sealer: CallSealer?) {
        let (size, redaction) = (call.size, call.redaction)
        guard let sealer else {
            self.init(call.redacted().map(Content.redacted) ?? .damaged, size: size)
            return
        }
        let sealed = sealer.seal(call.takeBytes())
        self.init(sealed.map { .sealed($0, by: sealer, redaction) } ?? .damaged, size: size)
    }

    init(_ content: Content, size: Int) {
        self.size = size
        self.content = Mutex(content)
    }

    /// The redacted call; nil if it isn't redacted yet, or damaged.
    var call: RecordedCall? {
        content.withLock { if case .redacted(let call) = $0 { call } else { nil } }
    }

    /// The sealed call; nil if it is redacted.
    var sealed: CallSealer.Sealed? {
        content.withLock { if case .sealed(let sealed, _, _) = $0 { sealed } else { nil } }
    }

    /// Redacts the call, unless it is redacted. Others that want to read it wait.
    ///
    /// - Returns: The new size; nil if it was redacted before.
    func redact() -> Int? {
        content.withLock { content in
            guard case .sealed(let sealed, let sealer, let redaction) = content else { return nil }
            guard let redacted = sealer.open(sealed).flatMap(redaction.redacted) else {
                content = .damaged
                return 0
            }
            content = .redacted(redacted)
            return redacted.approximateSize
        }
    }
}

/// Seals calls in memory with AES-256-GCM, under a random key that no core file has
/// (`LockedBytes`).
///
/// No context of OpenSSL is kept for the next call, because it would have the key outside of the
/// locked pages.
final class CallSealer: Sendable {
    /// The sealed bytes of a call.
    struct Sealed: Sendable {
        /// Its nonce.
        let number: UInt64
        let bytes: [UInt8]
        let tag: [UInt8]
    }

    private let key: LockedBytes
    /// The number of calls that were sealed: the nonce of the next one.
    private let count = Atomic<UInt64>(0)

    /// Creates a key; nil if the system has no memory or no random bytes for it.
    init?() {
        guard let secret = try? RandomBytes.secret(AESGCM.keyByteCount),
            let key = LockedBytes(copying: secret.bytes)
        else { return nil }
        self.key = key
    }

    /// Returns bytes sealed in their place; nil if OpenSSL fails.
    func seal(_ bytes: consuming [UInt8]) -> Sealed? {
        let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
        guard let tag = try? Self.seal(&bytes, with: key, nonce: Self.nonce(number)) else {
            return nil
        }
        return Sealed(number: number, bytes: bytes, tag: tag)
    }

    /// Returns the bytes that were sealed; nil if they are damaged.
    func open(_ sealed: Sealed) -> [UInt8]? { try? Self.open(sealed, with: key) }

    private static func seal(
        _ bytes: inout [UInt8], with key: borrowing LockedBytes, nonce: InlineArray<12, UInt8>
    ) throws(CryptoFailure) -> [UInt8] {
        try AESGCM.seal(
            inPlace: &bytes, key: key.bytes, nonce: nonce.span, authenticating: Span())
    }

    private static func open(
        _ sealed: Sealed, with key: borrowing LockedBytes
    ) throws(CryptoFailure) -> [UInt8] {
        let nonce = nonce(sealed.number)
        return try AESGCM.open(
            ciphertext: sealed.bytes.span, tag: sealed.tag.span, key: key.bytes,
            nonce: nonce.span, authenticating: Span())
    }

    private static func nonce(_ number: UInt64) -> InlineArray<12, UInt8> {
        InlineArray { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
