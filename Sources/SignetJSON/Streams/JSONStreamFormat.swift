/// How values follow one another in a stream.
public struct JSONStreamFormat: Sendable, Hashable {
    enum Value { case lines, sequence, array }

    let value: Value

    /// JSON Lines, also called NDJSON: one value a line.
    ///
    /// A line ends with a line feed, a carriage return before it is white space; the last line may lack
    /// its end, so a number there may have been cut off unseen. Empty lines are skipped. A value that
    /// goes over two lines is refused.
    public static let lines = JSONStreamFormat(value: .lines)

    /// `application/json-seq` (RFC 7464): a record separator (byte 30) before each value, a line feed
    /// behind it.
    ///
    /// A value is given as soon as its line feed has come. A number or literal without white space
    /// behind it is `truncated` (section 2.4); several separators in a row are one (section 2.1).
    public static let sequence = JSONStreamFormat(value: .sequence)

    /// One JSON array, element by element.
    ///
    /// A defect ends the stream, because nothing marks where the next element begins.
    public static let array = JSONStreamFormat(value: .array)
}
