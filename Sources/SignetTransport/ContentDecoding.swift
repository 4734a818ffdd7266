package import HTTPTypes

/// Limits for decoding the content coding of a response's body (RFC 9110, section 8.4).
///
/// A few bytes can decode to a thousand times as many, so the decoded body has limits of its own.
public struct ContentDecoding: Sendable, Hashable {
    /// The Accept-Encoding field of a request whose response is to be decoded.
    public static let acceptEncoding = "gzip, deflate"

    /// The maximum size of the decoded body, in bytes. Defaults to 64 MiB.
    public var maximumSize = 64 << 20
    /// The maximum number of decoded bytes for each received byte. Defaults to 100.
    public var maximumRatio = 100
    /// The number of decoded bytes up to which the ratio isn't checked, because a short repetitive
    /// text may exceed it. Defaults to 1 MiB.
    public var ratioFreeSize = 1 << 20

    /// Creates the default limits.
    public init() {}
}

extension HTTPResponse {
    /// The content codings of the response in lower case, without `identity`.
    package var contentCodings: [String] {
        headerFields[values: .contentEncoding].flatMap { $0.split(separator: ",") }
            .map { $0.split { $0 == " " || $0 == "\t" }.joined(separator: " ").lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
    }
}
