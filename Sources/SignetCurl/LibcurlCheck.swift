import CSignetCurl
import SignetBase
import SignetTransport

/// Checks that the loaded libcurl can check pins, and that CA files can be used.
enum LibcurlCheck {
    /// The name and abilities of the loaded libcurl.
    struct Library {
        var name: String
        var hasHTTP2: Bool
    }

    /// Checks the libcurl that the process has loaded.
    ///
    /// - Throws: `TransportError`: `unsupported-libcurl`, or `resources` if it could not be
    ///   initialised.
    static func check() throws(TransportError) -> Library {
        guard signet_global_start() else {
            throw TransportError(.resources, "libcurl or OpenSSL could not be initialised")
        }
        let version = unsafe String(cString: signet_libcurl_version())
        let tls = unsafe String(cString: signet_libcurl_tls())
        let openSSL = unsafe String(cString: signet_openssl_version())
        let number = signet_libcurl_version_number()
        if let message = problem(version: version, number: number, tls: tls, openSSL: openSSL) {
            throw TransportError(.unsupportedLibcurl, message)
        }
        return Library(name: "libcurl/\(version) \(tls)", hasHTTP2: signet_libcurl_has_http2())
    }

    /// Returns the reason why a libcurl can't check pins; `nil` if it can.
    ///
    /// - Parameter number: libcurl's version as in `LIBCURL_VERSION_NUM`.
    static func problem(version: String, number: UInt32, tls: String, openSSL: String) -> String? {
        let remedy =
            "install the one with OpenSSL (Debian: apt install libcurl4 libcurl4-openssl-dev) and"
            + " build again"
        guard tls.startsWithBytes(of: "OpenSSL/") else {
            return
                "libcurl \(version) uses \(tls.isEmpty ? "no TLS library" : tls), but pins can only"
                + " be checked with OpenSSL: \(remedy)"
        }
        let used = tls.dropFirst("OpenSSL/".count).prefix { $0 != " " }
        guard used == openSSL else {
            return
                "libcurl \(version) uses \(tls), but the program uses OpenSSL/\(openSSL): both must"
                + " use the same library; \(remedy)"
        }
        guard number >= 0x07_57_00 else {
            return
                "libcurl \(version) is too old to check pins, expected 7.87.0 or later: \(remedy)"
        }
        return nil
    }

    /// Checks that a CA file can be read and contains a certificate.
    ///
    /// - Throws: `TransportError` with code `trust-store` or `resources`.
    static func check(caFile: String) throws(TransportError) {
        switch unsafe signet_check_ca_file(caFile) {
        case 0: return
        case -1:
            throw TransportError(.trustStore, "the CA file \(caFile) contains no PEM certificate")
        case -2:
            throw TransportError(
                .resources, "the system provided no descriptor or memory to read the CA file")
        case let problem:
            throw TransportError(
                .trustStore,
                "the CA file \(caFile) cannot be read: "
                    + (unsafe String(cString: signet_error_text(problem))))
        }
    }
}
