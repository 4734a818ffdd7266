/// How far the content coding of a reply's body may be undone (RFC 9110, section 8.4).
///
/// A few bytes can decode to a thousand times as many, so what comes out has limits of its own.
public struct ContentDecoding: Sendable, Hashable {
    /// What a request's Accept-Encoding says where its reply is to be decoded.
    public static let acceptEncoding = "gzip, deflate"

    /// The most bytes of the decoded body.
    public var maximumSize = 64 << 20
    /// The most decoded bytes for each byte that came, beyond the first `ratioFreeSize` bytes.
    public var maximumRatio = 100
    /// How many decoded bytes the ratio says nothing about: short texts compress better than any bound.
    public var ratioFreeSize = 1 << 20

    /// Makes the standard limits.
    public init() {}
}
