internal import CSignetCurl
internal import SignetTransport

/// What libcurl must be before it is trusted with pins.
enum LibcurlCheck {
    /// What was found.
    struct Library {
        var name: String
        var hasHTTP2: Bool
    }

    /// Checks the library that the process has loaded.
    ///
    /// - Throws: `TransportError` with code `unsupported-libcurl`.
    static func check() throws(TransportError) -> Library {
        guard signet_global_start() else {
            throw TransportError(
                code: .resources, message: "libcurl or OpenSSL did not initialise")
        }
        let version = unsafe String(cString: signet_libcurl_version())
        let tls = unsafe String(cString: signet_libcurl_tls())
        let openSSL = unsafe String(cString: signet_openssl_version())
        let number = signet_libcurl_version_number()
        if let message = complaint(version: version, number: number, tls: tls, openSSL: openSSL) {
            throw TransportError(code: .unsupportedLibcurl, message: message)
        }
        return Library(
            name: "libcurl/\(version) \(tls)", hasHTTP2: signet_libcurl_has_http2())
    }

    /// What is wrong with a libcurl, or nil.
    static func complaint(version: String, number: UInt32, tls: String, openSSL: String) -> String?
    {
        let mend =
            "install the one with OpenSSL (Debian: apt install libcurl4 libcurl4-openssl-dev), and"
            + " build again"
        guard tls.hasPrefix("OpenSSL/") else {
            return
                "libcurl \(version) uses \(tls.isEmpty ? "no TLS library" : tls), and pins can only"
                + " be checked with OpenSSL: \(mend)"
        }
        let used = tls.dropFirst("OpenSSL/".count).prefix { $0 != " " }
        guard used == openSSL else {
            return
                "libcurl \(version) uses \(tls), and the program OpenSSL/\(openSSL): both must be one"
                + " library; \(mend)"
        }
        guard number >= 0x07_57_00 else {
            return "libcurl \(version) is older than 7.87.0, which pins need: \(mend)"
        }
        return nil
    }

    /// Checks that a CA file can be read and holds a certificate.
    ///
    /// - Throws: `TransportError` with code `trust-store` or `resources`.
    static func check(caFile: String) throws(TransportError) {
        switch unsafe signet_check_ca_file(caFile) {
        case 0: return
        case -1:
            throw TransportError(
                code: .trustStore, message: "the CA file \(caFile) holds no PEM certificate")
        case -2:
            throw TransportError(
                code: .resources, message: "the system gave no descriptor to read the CA file")
        case let problem:
            throw TransportError(
                code: .trustStore,
                message: "the CA file \(caFile) cannot be read: "
                    + (unsafe String(cString: signet_error_text(problem))))
        }
    }
}
