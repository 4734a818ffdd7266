import SignetBase
package import SignetJSON

/// Reads lines `NAME=value`, whose names become keys with dots.
package enum EnvironmentFile {
    /// The program that reads the lines.
    package enum Syntax: Sendable, Hashable, CaseIterable {
        /// sh, or a reader of .env files.
        ///
        /// A value is text in single quotes, without escapes; in double quotes, where `\n`,
        /// `\r`, `\t`, `\"`, `\\` and `\$` are escapes; or without quotes up to ` #`. Quoted values
        /// may have several lines, and quoted texts and `\'` may follow each other without a space,
        /// as in sh. Nothing is expanded.
        case shell
        /// `docker run --env-file` (docker/cli, `pkg/kvfile`). A value is the line after `=` as it
        /// is, with its quotes and spaces.
        case docker
        /// `EnvironmentFile=` of systemd (`src/basic/env-file.c`).
        ///
        /// A value is text in single quotes, without escapes; in double quotes, where a backslash
        /// stands before `"`, `\`, `` ` `` and `$`; or without quotes, where it stands before any
        /// character. Quoted values may have several lines.
        case systemd
    }

    /// A comment in the line before a name. It says how the value's text is read.
    package enum Mark: String, Sendable, Hashable, CaseIterable {
        /// The text is JSON.
        case json
        /// The text is a text, even if it looks like a number or a boolean.
        case text

        /// The line.
        package var comment: String { "# \(rawValue)" }
    }

    /// The reason that a file is refused, without any of its values.
    package struct Malformed: Error, Sendable, Hashable {
        package let problem: String
        /// The line, counted from 1; nil if it is unknown.
        package var line: Int?

        package init(_ problem: String, line: Int? = nil) {
            self.problem = problem
            self.line = line
        }
    }

    /// Reads the lines. `DATABASE_HOST` becomes `database.host`, as `Database.Host` does.
    ///
    /// A value without quotes is a boolean or a number if it's spelled as in JSON, except after the
    /// mark `text` in the syntax of Docker. A quoted value is text, except after the mark `json`.
    ///
    /// - Returns: The values, and notes about those that other programs read differently.
    package static func object(
        parsing text: String, as syntax: Syntax = .shell
    ) throws(Malformed) -> (object: JSONObject, notes: [String]) {
        var scanner = EnvironmentScanner(text, as: syntax)
        var object = JSONObject()
        while let (name, value) = try scanner.next() {
            do throws(Malformed) {
                try set(value, named: name, in: &object)
            } catch {
                throw Malformed(error.problem, line: scanner.line)
            }
        }
        return (object, scanner.notes)
    }

    /// Sets the value of the key that a name stands for.
    package static func set(
        _ value: JSONValue, named name: String, in object: inout JSONObject
    ) throws(Malformed) {
        let key = name.lowercased().split { $0 == "_" || $0 == "." }.joined(separator: ".")
        guard !key.isEmpty else { throw Malformed("found a name without a letter or digit") }
        guard object[key] == nil else { throw Malformed("two names for the key \(quoted(key))") }
        object[key] = value
    }

    /// Returns the value of a text without quotes.
    package static func value(
        of text: String, marked mark: Mark?
    ) throws(Malformed) -> JSONValue {
        switch mark {
        case .text: return .string(text)
        case .json:
            do throws(JSONError) {
                return try JSONValue(parsing: Array(text.utf8))
            } catch {
                throw Malformed("found a value that is not JSON after \(Mark.json.comment)")
            }
        case nil:
            switch text {
            case "true": return .bool(true)
            case "false": return .bool(false)
            default: return JSONNumber(text: text).map(JSONValue.number) ?? .string(text)
            }
        }
    }

    /// Returns the mark with which `value(of:marked:)` returns a value from its text.
    package static func mark(of value: JSONValue) -> Mark? {
        switch value {
        case .string(let text): (try? self.value(of: text, marked: nil)) == value ? nil : .text
        case .bool, .number: nil
        case .null, .array, .object: .json
        }
    }
}
