/// The format of a stream of JSON values.
public struct JSONStreamFormat: Sendable, Hashable {
    enum Value { case lines, sequence, array }

    let value: Value

    /// JSON Lines, also called NDJSON: one value per line.
    ///
    /// A line ends with a line feed; a carriage return before it is white space. Empty lines are
    /// skipped. A value on two lines is refused. The last line needs no line feed, so a number at
    /// its end may have been cut off without an error.
    public static let lines = JSONStreamFormat(value: .lines)

    /// `application/json-seq` (RFC 7464): a record separator (byte 30) before each value and a line
    /// feed after it.
    ///
    /// The reader returns a value as soon as it receives the line feed. A number or literal without
    /// white space after it is `truncated` (section 2.4). Several separators in a row count as one
    /// (section 2.1).
    public static let sequence = JSONStreamFormat(value: .sequence)

    /// One JSON array, element by element.
    ///
    /// An error ends the stream, because nothing marks the start of the next element.
    public static let array = JSONStreamFormat(value: .array)
}
