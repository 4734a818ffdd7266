import FuzzSupport

@testable import SignetCrypto

/// A file of certificates and keys is refused with a message, or each of its keys has a digest of 32 bytes,
/// and what is said of it can be shown.

/// Called by libFuzzer once, before it reads the corpus.
@_cdecl("LLVMFuzzerInitialize")
public func begin(_ count: OpaquePointer?, _ arguments: OpaquePointer?) -> CInt {
    return 0
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func run(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe input(data, count)
    let digests: [X509Parser.PublicKeyDigest]
    do throws(X509Failure) {
        digests = try X509Parser.publicKeyDigests(of: input)
    } catch {
        checkMessage(error.message, of: "a file of keys")
        if (try? X509Parser.certificates(input)) != nil {
            broken("a file has certificates whose keys cannot be read")
        }
        return 0
    }
    if digests.isEmpty { broken("a file without keys is taken") }
    for digest in digests {
        checkMessage(digest.subject + ".", of: "a subject")
        guard digest.spkiSHA256.count == 32 else { broken("a digest of a wrong length") }
        for host in digest.hosts { checkMessage(host, of: "a host") }
    }
    do throws(X509Failure) {
        let certificates = try X509Parser.certificates(input)
        let ofKind = digests.filter { $0.kind == .certificate }
        guard certificates.map(\.spkiSHA256) == ofKind.map(\.spkiSHA256) else {
            broken("certificates and their keys' digests differ")
        }
        for certificate in certificates {
            guard let again = try? X509Parser.certificates(certificate.der) else { continue }
            guard again == [certificate] else { broken("a certificate is not its own") }
        }
    } catch {
        checkMessage(error.message, of: "a file of certificates")
        if digests.contains(where: { $0.kind == .certificate }) {
            broken("a certificate is lost")
        }
    }
    return 0
}
