import CSignetCurl
import SignetCrypto
import SignetPinning
import SignetTransport

/// The CAs that handshakes trust and the certificate that they show, ready for OpenSSL. Calls with
/// the same object share connections and TLS sessions, and no others do.
@safe final class HandshakeTrust: Sendable {
    // Not changed after `init`; the C code counts its references atomically.
    nonisolated(unsafe) let handle: OpaquePointer
    /// The subject of the client certificate; `nil` without one.
    let subject: String?

    /// Reads the CAs.
    ///
    /// - Parameter base: Those that the CAs of a rule are added to; `nil` for others.
    /// - Throws: `TransportError` with code `trust-store` or `resources`.
    init(_ store: TrustStore, addedTo base: HandshakeTrust?) throws(TransportError) {
        let pem = store.authorities?.pem ?? []
        let readsFile = base == nil && store.authorities?.mode != .replace
        var problem: Int32 = 0
        let made = unsafe pem.withUnsafeBufferPointer { pem in
            unsafe signet_trust_new(
                base?.handle, store.caFile, readsFile, pem.baseAddress, pem.count, &problem)
        }
        guard let made = unsafe made else {
            guard problem < 0 else { throw Self.noMemory }
            let file =
                readsFile ? store.caFile ?? "that libcurl was built with" : store.authorities?.file
            throw TransportError(
                .trustStore, "the CA file \(file ?? "") has no certificate, or an invalid one")
        }
        unsafe handle = made
        subject = nil
    }

    /// The same CAs, and a certificate for servers that ask for one.
    init(
        _ trust: HandshakeTrust, showing certificate: ClientCertificate.Version
    ) throws(TransportError) {
        let identity = certificate.identity
        let pointers = unsafe identity.certificatePointers.map { unsafe $0 as OpaquePointer? }
        let made = unsafe pointers.withUnsafeBufferPointer { all in
            unsafe signet_trust_showing(trust.handle, all.baseAddress, all.count, identity.key)
        }
        guard let made = unsafe made else { throw Self.noMemory }
        unsafe handle = made
        subject = identity.leaf.subject
    }

    /// The number of CAs. For tests.
    var count: Int { unsafe signet_trust_count(handle) }

    private static let noMemory = TransportError(
        .resources, "the system provided no memory for the CAs or the client certificate")

    deinit { unsafe signet_trust_release(handle) }
}
