internal import CSignetOpenSSL

/// A key of HMAC (RFC 2104, FIPS 198-1) with its contexts kept ready.
///
/// Setting up a context costs more than the HMAC of a request, so each key keeps a few that have
/// done it. Threads share a key without a lock.
@safe package final class HMACKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    package let algorithm: DigestAlgorithm
    // Keyed, never updated, only duplicated; OpenSSL reads it from several threads at once.
    private let template: OpaquePointer
    private let pool = ContextPool()

    /// Takes a key of any length, an empty one too, as RFC 2104 does.
    package init(_ algorithm: DigestAlgorithm, key: Span<UInt8>) throws(CryptoFailure) {
        self.algorithm = algorithm
        unsafe self.template = try macContext()
        let template = unsafe self.template
        let status = unsafe key.withUnsafeBytes { key in
            unsafe copenssl_mac_start(
                template, key.baseAddress, key.count, algorithm.opensslName)
        }
        guard status == 1 else { throw CryptoFailure.library("HMAC key") }
    }

    /// Bytes of a tag.
    package var tagByteCount: Int { algorithm.byteCount }

    /// The tag of a message.
    package func tag(of message: Span<UInt8>) throws(CryptoFailure) -> [UInt8] {
        guard let context = unsafe pool.take() ?? EVP_MAC_CTX_dup(template) else {
            throw CryptoFailure.library("HMAC")
        }
        let count = algorithm.byteCount
        var status: Int32 = 0
        let tag = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            status = unsafe message.withUnsafeBytes { message in
                guard unsafe copenssl_mac_restart(context) == 1 else { return 0 }
                guard unsafe copenssl_mac_update(context, message.baseAddress, message.count) == 1
                else { return 0 }
                return unsafe copenssl_mac_finish(context, buffer.baseAddress, count)
            }
            written = status == 1 ? count : 0
        }
        guard status == 1 else {
            unsafe EVP_MAC_CTX_free(context)
            throw CryptoFailure.library("HMAC")
        }
        if unsafe !pool.giveBack(context) { unsafe EVP_MAC_CTX_free(context) }
        return tag
    }

    /// The tag of an array's bytes.
    package func tag(of message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        try tag(of: message.span)
    }

    package var description: String { "HMACKey(\(algorithm), redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    deinit {
        while let context = unsafe pool.take() { unsafe EVP_MAC_CTX_free(context) }
        unsafe EVP_MAC_CTX_free(template)
    }
}

/// HMAC under a key that is used once, such as one that another HMAC made.
package enum HMAC {
    private static let sha256 = MACPool()
    private static let sha384 = MACPool()
    private static let sha512 = MACPool()

    /// The tag of `message` under `key`.
    package static func tag(
        of message: Span<UInt8>, key: Span<UInt8>, _ algorithm: DigestAlgorithm = .sha256
    ) throws(CryptoFailure) -> [UInt8] {
        let count = algorithm.byteCount
        var tag = [UInt8](repeating: 0, count: count)
        var target = tag.mutableSpan
        try write(to: &target, key: key, algorithm, message)
        return tag
    }

    /// Writes the tag of up to three pieces, one after the other, into `target`, which is exactly
    /// as long as a tag.
    static func write(
        to target: inout MutableSpan<UInt8>, key: Span<UInt8>, _ algorithm: DigestAlgorithm,
        _ first: Span<UInt8>, _ second: Span<UInt8> = Span(), _ third: Span<UInt8> = Span()
    ) throws(CryptoFailure) {
        guard target.count == algorithm.byteCount else {
            throw CryptoFailure(
                operation: "HMAC",
                reason: "room for \(target.count) bytes, wanted \(algorithm.byteCount)")
        }
        let pool =
            switch algorithm {
            case .sha256: sha256
            case .sha384: sha384
            case .sha512: sha512
            }
        let context = unsafe try pool.keyed(key, algorithm)
        let count = target.count
        let isDone =
            unsafe add(first, to: context) && add(second, to: context)
            && add(third, to: context)
            && target.withUnsafeMutableBytes { target in
                unsafe copenssl_mac_finish(context, target.baseAddress, count) == 1
            }
        guard isDone else {
            unsafe EVP_MAC_CTX_free(context)
            throw CryptoFailure.library("HMAC")
        }
        unsafe pool.retire(context)
    }

    /// Fills `target` with the blocks of HKDF-Expand (RFC 5869, section 2.3), all under one set-up of
    /// the key; at most 255 of 32 bytes.
    static func expand(
        to target: inout MutableSpan<UInt8>, key: Span<UInt8>, info: Span<UInt8>
    ) throws(CryptoFailure) {
        let context = unsafe try sha256.keyed(key, .sha256)
        let status = unsafe info.withUnsafeBytes { info in
            unsafe target.withUnsafeMutableBytes { target in
                unsafe copenssl_hkdf_expand(
                    context, info.baseAddress, info.count, target.baseAddress, target.count)
            }
        }
        guard status == 1 else {
            unsafe EVP_MAC_CTX_free(context)
            throw CryptoFailure.library("HKDF expand")
        }
        unsafe sha256.retire(context)
    }

    private static func add(_ bytes: Span<UInt8>, to context: OpaquePointer) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe copenssl_mac_update(context, bytes.baseAddress, bytes.count) == 1
        }
    }
}

/// A context of HMAC without a key yet.
private func macContext() throws(CryptoFailure) -> OpaquePointer {
    guard let algorithm = unsafe Algorithms.shared.hmac else {
        throw CryptoFailure(operation: "HMAC", reason: "OpenSSL offers no HMAC")
    }
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else {
        throw CryptoFailure.library("HMAC")
    }
    return unsafe context
}

/// The process's contexts of one digest, which get a new key each time.
private final class MACPool: Sendable {
    private let contexts = ContextPool()

    /// A context under `key`: an idle one with its key replaced, or a new one.
    func keyed(
        _ key: Span<UInt8>, _ algorithm: DigestAlgorithm
    ) throws(CryptoFailure) -> OpaquePointer {
        let idle = unsafe contexts.take()
        let context = unsafe try newOr(idle)
        let status = unsafe key.withUnsafeBytes { key in
            if unsafe idle != nil {
                return unsafe copenssl_mac_rekey(context, key.baseAddress, key.count)
            }
            return unsafe copenssl_mac_start(
                context, key.baseAddress, key.count, algorithm.opensslName)
        }
        guard status == 1 else {
            unsafe EVP_MAC_CTX_free(context)
            throw CryptoFailure.library("HMAC key")
        }
        return unsafe context
    }

    private func newOr(_ idle: OpaquePointer?) throws(CryptoFailure) -> OpaquePointer {
        if let idle = unsafe idle { return unsafe idle }
        return unsafe try macContext()
    }

    /// Takes a context back, its last key replaced by the empty one.
    func retire(_ context: OpaquePointer) {
        guard unsafe copenssl_mac_rekey(context, nil, 0) == 1 else {
            return unsafe EVP_MAC_CTX_free(context)
        }
        if unsafe !contexts.giveBack(context) { unsafe EVP_MAC_CTX_free(context) }
    }
}
