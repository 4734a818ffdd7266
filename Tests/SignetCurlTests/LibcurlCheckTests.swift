import Testing

@testable import SignetCurl

/// The versions of libcurl that are refused, and the refusal, which names the version and the
/// package to install.
@Suite struct LibcurlCheckTests {
    @Test(
        arguments: [
            ("7.88.1", 0x07_58_01, "GnuTLS/3.7.9", "GnuTLS/3.7.9"),
            ("7.88.1", 0x07_58_01, "", "no TLS library"),
            ("7.88.1", 0x07_58_01, "BoringSSL", "BoringSSL"),
            ("7.88.1", 0x07_58_01, "(OpenSSL/3.0.22) GnuTLS/3.7.9", "GnuTLS"),
            ("7.88.1", 0x07_58_01, "OpenSSL/1.1.1w", "OpenSSL/1.1.1w"),
            ("7.88.1", 0x07_58_01, "OpenSSL/3.0.2", "OpenSSL/3.0.2"),
            ("7.86.0", 0x07_56_00, "OpenSSL/3.0.22", "7.86.0"),
        ] as [(String, UInt32, String, String)])
    func refuses(_ version: String, _ number: UInt32, _ tls: String, _ named: String) throws {
        let complaint = try #require(
            LibcurlCheck.problem(
                version: version, number: number, tls: tls, openSSL: "3.0.22"))
        #expect(complaint.contains(named))
        #expect(complaint.contains("libcurl4-openssl-dev"))
    }

    @Test func takesTheProgramsOwnOpenSSL() {
        #expect(
            LibcurlCheck.problem(
                version: "7.88.1", number: 0x07_58_01, tls: "OpenSSL/3.0.22", openSSL: "3.0.22")
                == nil)
    }
}
