import CSignetOpenSSL

/// OpenSSL's algorithms, fetched by name once per process and never freed.
///
/// Fetching one takes up to half a microsecond, about as long as the HMAC of a whole request.
@safe struct Algorithms: @unchecked Sendable {
    static let shared = Algorithms()

    let hmac: OpaquePointer?
    let sha256: OpaquePointer?
    let sha384: OpaquePointer?
    let sha512: OpaquePointer?
    let aes128GCM: OpaquePointer?
    let aes256GCM: OpaquePointer?

    private init() {
        unsafe hmac = EVP_MAC_fetch(nil, "HMAC", nil)
        unsafe sha256 = EVP_MD_fetch(nil, "SHA2-256", nil)
        unsafe sha384 = EVP_MD_fetch(nil, "SHA2-384", nil)
        unsafe sha512 = EVP_MD_fetch(nil, "SHA2-512", nil)
        unsafe aes128GCM = EVP_CIPHER_fetch(nil, "AES-128-GCM", nil)
        unsafe aes256GCM = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil)
        signet_openssl_forget_errors()
    }
}

/// The hash functions of FIPS 180-4 that this package uses.
package enum DigestAlgorithm: String, Sendable, CaseIterable {
    case sha256
    case sha384
    case sha512

    /// The number of bytes in a digest.
    package var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The algorithm's name in OpenSSL.
    var opensslName: String { "SHA2-\(8 * byteCount)" }

    var fetched: OpaquePointer? {
        switch self {
        case .sha256: unsafe Algorithms.shared.sha256
        case .sha384: unsafe Algorithms.shared.sha384
        case .sha512: unsafe Algorithms.shared.sha512
        }
    }
}
