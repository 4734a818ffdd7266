import SignetBase
import SignetCrypto
import Synchronization

/// Numbers the secrets of one recording, so that equal ones have the same mark.
///
/// It keeps no secret: a value is found again by its MAC under a key that is random and never
/// leaves the process. A mark says nothing about its value, because numbers count up.
final class RedactionMarks: Sendable {
    private struct State {
        var numbers: [[UInt8]: Int] = [:]
        var last: Int
    }

    /// The number of values that are remembered. Later ones get a mark of their own each time.
    private static let limit = 100_000
    private let key: HMACKey?
    private let state: Mutex<State>

    /// - Parameter last: The last number that is taken already.
    init(after last: Int = 0) {
        state = Mutex(State(last: last))
        key = (try? RandomBytes.bytes(32)).flatMap { try? HMACKey(.sha256, key: $0.span) }
    }

    /// Returns the number of a secret.
    func number(of secret: some Collection<UInt8>) -> Int {
        let tag = key.flatMap { try? $0.tag(of: Array(secret)) }
        return state.withLock { state in
            if let tag, let number = state.numbers[tag] { return number }
            state.last += 1
            if let tag, state.numbers.count < Self.limit { state.numbers[tag] = state.last }
            return state.last
        }
    }
}

/// The text in place of a secret: `redacted-3`.
enum RedactionMark {
    private static let prefix = Array("redacted-".utf8)
    /// The largest number, which has nine digits.
    static let largest = 999_999_999

    static func text(_ number: Int) -> String { "redacted-\(number)" }

    /// The number of a mark; nil for any other text.
    static func number(of text: some Collection<UInt8>) -> Int? {
        guard text.starts(with: prefix) else { return nil }
        let digits = text.dropFirst(prefix.count)
        guard (1...9).contains(digits.count), digits.allSatisfy(\.isDigit) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The marks in a text, with their places.
    static func all(in bytes: [UInt8]) -> [(range: Range<Int>, number: Int)] {
        var marks: [(Range<Int>, Int)] = []
        var at = 0
        while let start = bytes[at...].firstIndex(of: prefix[0]) {
            at = start + 1
            guard bytes[start...].starts(with: prefix),
                start == 0 || !bytes[start - 1].isLetterOrDigit
            else { continue }
            let digits = bytes[(start + prefix.count)...].prefix(while: \.isDigit)
            let end = digits.endIndex
            guard let number = number(of: bytes[start..<end]),
                end == bytes.count || !bytes[end].isLetter
            else { continue }
            marks.append((start..<end, number))
            at = end
        }
        return marks
    }
}
