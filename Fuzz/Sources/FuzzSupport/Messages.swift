/// Demands of the words that a person reads about a refused input: there are some, and nothing in them can
/// steer a terminal or hide.
public func checkMessage(_ message: String, of what: String) {
    if message.isEmpty { broken("\(what): an empty message") }
    for scalar in message.unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator:
            broken(
                "\(what): U+\(String(scalar.value, radix: 16)) in a message:"
                    + " \(message.debugDescription)")
        default: break
        }
    }
}

/// Demands the same of each line of a message, which has one for each of several errors.
public func checkLines(_ message: String, of what: String) {
    for line in message.split(separator: "\n", omittingEmptySubsequences: false) {
        checkMessage(String(line), of: what)
    }
}

/// A text that a target puts where an input has a secret.
public enum Planted {
    /// Letters and digits that no seed holds.
    public static let secret = "Zq7Kp2Xw9LrTfV4mNc8BhYs3Gd6JuE5oQaWxRzTn"

    /// Demands that a message repeats no piece of the secret.
    public static func check(_ message: String, of what: String) {
        checkLines(message, of: what)
        let bytes = Array(message.utf8)
        let start = Array(secret.utf8.prefix(6))
        guard bytes.count >= start.count else { return }
        for index in 0...(bytes.count - start.count)
        where bytes[index] == start[0] && bytes[index...].starts(with: start) {
            broken("\(what): a message repeats a secret: \(message.debugDescription)")
        }
    }

    /// Whether an input holds a piece of the secret itself, so that a message may repeat it.
    public static func isHeld(in input: [UInt8]) -> Bool {
        let start = Array(secret.utf8.prefix(6))
        guard input.count >= start.count else { return false }
        return (0...(input.count - start.count)).contains {
            input[$0] == start[0] && input[$0...].starts(with: start)
        }
    }
}

/// An input of several parts, which zero bytes separate: always as many as wanted, the last with the rest.
public func parts(of input: [UInt8], _ count: Int) -> [[UInt8]] {
    var found = input.split(
        separator: 0, maxSplits: count - 1, omittingEmptySubsequences: false
    ).map { Array($0) }
    while found.count < count { found.append([]) }
    return found
}

/// A text of any bytes.
public func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
