import Foundation
import TestSupport
import Testing

/// The retry cases of AWS's SDKs, read from the YAML of `shared/vectors/aws-retry`.
///
/// The file has one key and one value on each line, which is all of YAML that is read here.
struct AWSRetryVectors {
    /// A response, and the expected action of a client.
    struct Step: Sendable {
        var status = 0
        var errorCode: String?
        var retryAfter: String?
        var outcome = ""
        /// The tokens that are left.
        var quota: Int?
        /// In seconds.
        var delay: Double?
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var group: String
        var name = ""
        var tokens = 500
        var attempts = 3
        /// In seconds.
        var longestPause: Double?
        /// The responses of each thread, in their order.
        var threads: [[Step]] = [[]]
        var finalQuota: Int?

        var testDescription: String { name }
    }

    /// All cases; none if the file isn't there.
    static let all: Result<[Case], any Error> = Result {
        guard let folder = SharedVectors.directory else { return [] }
        let file = folder.appending(path: "aws-retry/aws-standard-2026.yaml")
        return try parse(String(contentsOf: file, encoding: .utf8))
    }

    private static func parse(_ text: String) throws -> [Case] {
        var cases: [Case] = []
        for line in text.split(separator: "\n") {
            let entry = line.drop { $0 == " " || $0 == "-" }
            guard let colon = entry.firstIndex(of: ":") else {
                throw TestSupportError("a line without a key: \(line)")
            }
            let value = entry[entry.index(after: colon)...].trimmingCharacters(
                in: CharacterSet(charactersIn: " '"))
            let key = String(entry[..<colon])
            if key == "group" {
                cases.append(Case(group: value))
                continue
            }
            let begins = line.drop { $0 == " " }.hasPrefix("- -")
            guard let last = cases.indices.last else { throw TestSupportError("no case") }
            try read(key, value, beginsThread: begins, into: &cases[last])
        }
        return cases
    }

    private static func read(
        _ key: String, _ value: String, beginsThread: Bool, into one: inout Case
    ) throws {
        let thread = one.threads.count - 1
        let step = one.threads[thread].count - 1
        func number() throws -> Int {
            guard let number = Int(value) else { throw TestSupportError("\(key): \(value)") }
            return number
        }
        func seconds() throws -> Double {
            guard let seconds = Double(value) else { throw TestSupportError("\(key): \(value)") }
            return seconds
        }
        switch key {
        case "name": one.name = value
        case "initial_retry_tokens": one.tokens = try number()
        case "max_attempts": one.attempts = try number()
        case "max_backoff_time": one.longestPause = try seconds()
        case "expected_final_quota": one.finalQuota = try number()
        case "response" where beginsThread && step >= 0: one.threads.append([Step()])
        case "response": one.threads[thread].append(Step())
        case "status_code": one.threads[thread][step].status = try number()
        case "error_code": one.threads[thread][step].errorCode = value
        case "x-amz-retry-after": one.threads[thread][step].retryAfter = value
        case "outcome": one.threads[thread][step].outcome = value
        case "retry_quota": one.threads[thread][step].quota = try number()
        case "delay": one.threads[thread][step].delay = try seconds()
        // The pauses are not random: every case has the base 1.
        case "exponential_base" where value == "1": break
        case "case", "given", "responses", "expected", "headers", "threads", "service",
            "long_polling":
            break
        default: throw TestSupportError("an unknown key: \(key)")
        }
    }
}
