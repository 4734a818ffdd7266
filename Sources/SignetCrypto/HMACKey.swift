internal import CSignetOpenSSL

/// An HMAC key (RFC 2104, FIPS 198-1) with a pool of contexts. Threads share a key without a lock.
///
/// Setting up a context takes longer than the HMAC of a request, so each key keeps a few that are
/// set up.
@safe package final class HMACKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
    package let algorithm: DigestAlgorithm
    // Has the key, is never updated and only duplicated, which several threads may do at once.
    private let template: OpaquePointer
    private let pool = ContextPool()

    /// Creates a key from bytes of any length, including none (RFC 2104, section 2).
    package init(_ algorithm: DigestAlgorithm, key: Span<UInt8>) throws(CryptoFailure) {
        self.algorithm = algorithm
        unsafe self.template = try macContext()
        let template = unsafe self.template
        let status = unsafe key.withUnsafeBytes { key in
            unsafe copenssl_mac_start(template, key.baseAddress, key.count, algorithm.opensslName)
        }
        guard status == 1 else { throw CryptoFailure.library("HMAC key") }
    }

    /// The number of bytes in a tag.
    package var tagByteCount: Int { algorithm.byteCount }

    /// Returns the tag of a message.
    package func tag(of message: Span<UInt8>) throws(CryptoFailure) -> [UInt8] {
        guard let context = unsafe pool.acquire() ?? EVP_MAC_CTX_dup(template) else {
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
        if unsafe !pool.release(context) { unsafe EVP_MAC_CTX_free(context) }
        return tag
    }

    /// Returns the tag of an array's bytes.
    package func tag(of message: [UInt8]) throws(CryptoFailure) -> [UInt8] {
        try tag(of: message.span)
    }

    package var description: String { "HMACKey(\(algorithm), redacted)" }
    package var customMirror: Mirror { Mirror(self, children: []) }

    deinit {
        while let context = unsafe pool.acquire() { unsafe EVP_MAC_CTX_free(context) }
        unsafe EVP_MAC_CTX_free(template)
    }
}

/// HMAC with a key that is used once, such as one that another HMAC derived.
package enum HMAC {
    private static let sha256 = MACPool()
    private static let sha384 = MACPool()
    private static let sha512 = MACPool()

    /// Returns the tag of `message`.
    package static func tag(
        of message: Span<UInt8>, key: Span<UInt8>, using algorithm: DigestAlgorithm = .sha256
    ) throws(CryptoFailure) -> [UInt8] {
        let count = algorithm.byteCount
        var tag = [UInt8](repeating: 0, count: count)
        var target = tag.mutableSpan
        try write(to: &target, of: message, key: key, using: algorithm)
        return tag
    }

    /// Writes the tag of `message` to `target`, which must be as long as a tag.
    static func write(
        to target: inout MutableSpan<UInt8>, of message: Span<UInt8>, key: Span<UInt8>,
        using algorithm: DigestAlgorithm
    ) throws(CryptoFailure) {
        guard target.count == algorithm.byteCount else {
            throw CryptoFailure(
                operation: "HMAC",
                reason: "found room for \(target.count) bytes, expected \(algorithm.byteCount)")
        }
        let pool =
            switch algorithm {
            case .sha256: sha256
            case .sha384: sha384
            case .sha512: sha512
            }
        let context = unsafe try pool.context(key: key, using: algorithm)
        let count = target.count
        let isDone =
            unsafe add(message, to: context)
            && target.withUnsafeMutableBytes { target in
                unsafe copenssl_mac_finish(context, target.baseAddress, count) == 1
            }
        guard isDone else {
            unsafe EVP_MAC_CTX_free(context)
            throw CryptoFailure.library("HMAC")
        }
        unsafe pool.release(context)
    }

    /// Fills `target`, at most 255 * 32 bytes, with the output of HKDF-Expand (RFC 5869, section
    /// 2.3). Sets the key up once for all blocks.
    static func expand(
        to target: inout MutableSpan<UInt8>, key: Span<UInt8>, info: Span<UInt8>
    ) throws(CryptoFailure) {
        let context = unsafe try sha256.context(key: key, using: .sha256)
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
        unsafe sha256.release(context)
    }

    private static func add(_ bytes: Span<UInt8>, to context: OpaquePointer) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe copenssl_mac_update(context, bytes.baseAddress, bytes.count) == 1
        }
    }
}

/// Returns an HMAC context without a key.
private func macContext() throws(CryptoFailure) -> OpaquePointer {
    guard let algorithm = unsafe Algorithms.shared.hmac else {
        throw CryptoFailure(operation: "HMAC", reason: "OpenSSL does not provide HMAC")
    }
    guard let context = unsafe EVP_MAC_CTX_new(algorithm) else {
        throw CryptoFailure.library("HMAC")
    }
    return unsafe context
}

/// The process's idle HMAC contexts of one digest. Each use sets a new key.
private final class MACPool: Sendable {
    private let contexts = ContextPool()

    /// Returns a context with `key`: an idle one whose key is replaced, or a new one.
    func context(
        key: Span<UInt8>, using algorithm: DigestAlgorithm
    ) throws(CryptoFailure) -> OpaquePointer {
        let idle = unsafe contexts.acquire()
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

    /// Keeps a context for later, its key replaced by the empty one, or frees it.
    func release(_ context: OpaquePointer) {
        guard unsafe copenssl_mac_rekey(context, nil, 0) == 1 else {
            return unsafe EVP_MAC_CTX_free(context)
        }
        if unsafe !contexts.release(context) { unsafe EVP_MAC_CTX_free(context) }
    }
}
