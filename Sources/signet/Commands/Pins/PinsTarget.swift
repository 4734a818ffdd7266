#if Tool
import SignetBase
import SignetCrypto
import SignetCurl
import SignetJSON
import SignetPinning
import SignetTransport

/// The parts of an http or https URL that a handshake needs.
struct PinsTarget {
    let authority: Authority
    let isSecure: Bool

    var port: Int { authority.port(scheme: isSecure ? "https" : "http") }
    var isDefaultPort: Bool { port == (isSecure ? 443 : 80) }
    /// `https://HOST:PORT` in its one form.
    var origin: String {
        "\(isSecure ? "https" : "http")://\(authority.host.uriText)"
            + (isDefaultPort ? "" : ":\(port)")
    }

    /// Whether a text begins like a URL.
    static func isURL(_ text: String) -> Bool { scheme(of: text) != nil }

    private static func scheme(of text: String) -> String? {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon + 2 < bytes.count,
            bytes[colon + 1] == UInt8(ascii: "/"), bytes[colon + 2] == UInt8(ascii: "/")
        else { return nil }
        return String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    }

    /// Reads a URL; its path and query do not matter.
    init(parsing text: String) throws(ToolError) {
        guard let scheme = Self.scheme(of: text), scheme == "https" || scheme == "http" else {
            // User info, a password perhaps, is not repeated.
            let found = text.utf8.contains(UInt8(ascii: "@")) ? "" : ", not \"\(text)\""
            throw .usage("expected a URL that begins with https://\(found)")
        }
        do throws(HostError) {
            authority = try Authority(parsing: URLParts(parsing: text).authority)
        } catch {
            throw .usage("the URL: \(error.message)")
        }
        isSecure = scheme == "https"
    }

    /// Shakes hands with the server; not a byte of a request is sent.
    ///
    /// - Parameter project: The project that may name the CAs.
    func probe(
        _ network: NetworkOptions, of project: Project, policy: PinPolicy? = nil
    ) async throws -> ProbeResult {
        let connectTo = try network.addresses()
        let proxy = try network.proxy(for: authority)
        var settings = EngineSettings()
        settings.caFile = try network.caFile(of: project)
        let engine = try CurlEngine(settings)
        let result: Result<ProbeResult, TransportError>
        do throws(TransportError) {
            result = .success(
                try await engine.probe(
                    authority, connectTo: connectTo, proxy: proxy, timeout: network.timeout,
                    policy: policy))
        } catch {
            result = .failure(error)
        }
        await engine.shutdown()
        return try result.get()
    }

    /// The error for a chain whose CA, dates or host name are invalid.
    func untrusted(_ seen: ProbeResult) -> ToolError {
        let found =
            "\(authority.host.uriText):\(port) is not trusted: \(seen.reason ?? "no reason given")"
        var failure = ToolError(
            .tls, "\(found); it sent \(pinsText(seen.chain))",
            details: ["chain": pinsJSON(seen.chain)])
        failure.lines =
            Terminal.wrapped(found, indent: 2)
            + PinText.lines(of: seen.chain, titled: "it sent, leaf first")
        return failure
    }
}

/// Returns certificates as the member `chain` of the JSON output.
func pinsJSON(_ chain: [SeenCertificate]) -> JSONValue {
    func time(_ seconds: Int64?) -> JSONValue {
        seconds.map { .string(UnixTime.rfc3339($0)) } ?? .null
    }
    return .array(
        chain.map { certificate in
            let parsed = certificate.parsed
            return [
                "subject": .string(certificate.subject), "pin": .string(certificate.pin.text),
                "notBefore": time(parsed?.notBefore), "notAfter": time(parsed?.notAfter),
            ]
        })
}

extension SeenCertificate {
    /// The fields of the certificate, if its bytes are known.
    var parsed: X509Parser.CertificateInfo? { try? X509Parser.certificates(der).first }
}

/// Certificates on one line.
func pinsText(_ chain: [SeenCertificate]) -> String {
    chain.map { "\($0.pin.text) (\($0.subject))" }.joined(separator: ", ")
}
#endif
